#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "residua/files/parquet/parquet_columns.h"
#include "residua/files/table_files.h"

namespace residua {

// Of the answers along one attribute.
struct AxisDictionaries {
  ParquetDictionary labels;
  std::vector<ParquetDictionary> companions;
};
std::vector<AxisDictionaries> AxisDictionariesOf(const TableLayout& layout);

// Tables in one Parquet file. Row groups are full but the last, and follow from the tables' sizes
// alone.
class ParquetTables {
 public:
  // The columns are those of the attributes in `only`; if it is null, the table's name and all
  // attributes, which a table may lack. With `has_means` there are columns for these, not-a-number in
  // tables without. All but the path outlive this.
  ParquetTables(const std::filesystem::path& path, const TableLayout& layout,
                const std::vector<AxisDictionaries>& dictionaries, const AttributeSet* only,
                bool has_means);

  void Add(const PublishedTable& table);
  void Finish(Durability durability);

 private:
  // Rows of one table in a row group.
  struct Piece {
    int64_t count = 0;
    bool has_one_std_dev = false;
  };

  void AddPiece(const PublishedTable& table, int64_t first, int64_t count);
  void AddEntries(const PublishedTable& table, int64_t first, int64_t count, bool continues);
  void AddNumbers(const PublishedTable& table, size_t first, size_t count, bool continues);
  void AddMeans(const PublishedTable& table, size_t first, size_t count);
  std::vector<double> StdDevsOfRows() const;
  void WriteRowGroup();

  const TableLayout& layout_;
  const std::vector<AxisDictionaries>& dictionaries_;
  bool is_one_file_;
  bool has_means_;
  AttributeSet attributes_;  // of the columns
  ParquetColumnsFile file_;

  // The row group that is filled.
  int64_t num_rows_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::string> tables_;  // the name of each piece's
  std::vector<std::vector<EntryStretch>>
      stretches_;                     // of each attribute's column, as far as it has
  std::vector<int64_t> num_entries_;  // any, and how many rows they are
  std::vector<double> estimates_, std_devs_, lower_, upper_;
  std::array<std::vector<double>, std::size(kMeanNumberColumns)> means_;
  std::vector<EntryStretch> notes_;
  std::vector<int64_t> whole_;
};

}  // namespace residua
