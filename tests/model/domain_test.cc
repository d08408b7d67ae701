#include "residua/model/domain.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"

namespace residua {
namespace {

Domain Marked(int num_attributes, int num_marked) {
  std::vector<Attribute> attributes;
  for (int k = 0; k < num_attributes; ++k) {
    Attribute attribute;
    attribute.name = "a" + std::to_string(k);
    attribute.size = 2;
    attribute.read_from_data = k < num_marked;
    attributes.push_back(std::move(attribute));
  }
  return Domain(std::move(attributes));
}

TEST(DomainTest, CellsReadFromTheDataAreRefusedByName) {
  EXPECT_NO_THROW(CheckDomainIsPublic(Marked(3, 0)));
  EXPECT_NO_THROW(CheckDomainIsPublic(Domain()));
  const auto message_of = [](const Domain& domain) -> std::string {
    try {
      CheckDomainIsPublic(domain);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message_of(Marked(3, 2)),
            "the cells of 'a0', 'a1' were read from the data and may reveal it; in the spec, "
            "replace them by what is publicly known, remove the line check = \"read from the "
            "data\", and plan again");
  EXPECT_EQ(message_of(Marked(20, 11))
                .find("the cells of 'a0', 'a1', 'a2', 'a3', 'a4', 'a5', "
                      "'a6', 'a7' and 3 more were read"),
            0);
}

std::string RefusalOf(const Attribute& attribute) {
  try {
    const Domain domain({attribute});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    return error.what();
  }
  return "";
}

// Whoever has a Domain need not check its encodings.
TEST(DomainTest, HoldsNoEncodingWithAFault) {
  const auto with = [](const Encoding& encoding, int64_t size) {
    return Attribute{"net income", size, QueryKind::kIdentity, encoding};
  };
  EXPECT_EQ(RefusalOf(with({}, 3)), "");
  EXPECT_EQ(RefusalOf(with({IntegerEncoding{0, 2}}, 3)), "");
  EXPECT_EQ(RefusalOf(with({ValueEncoding{{"x", "y"}}, true, OutsidePolicy::kNull}, 3)), "");

  EXPECT_EQ(RefusalOf(with({IntegerEncoding{0, 9}}, 3)),
            "attributes.\"net income\".size is 3, and the encoding has 10 cells");
  EXPECT_EQ(RefusalOf(with({CutEncoding{{2, 1}}}, 3)),
            "attributes.\"net income\".cuts must increase strictly");
  EXPECT_EQ(RefusalOf(with({ValueEncoding{{"x", "x"}}}, 2)),
            "attributes.\"net income\".values lists 'x' twice");
  EXPECT_EQ(RefusalOf(with({{}, false, OutsidePolicy::kNull}, 2)),
            "attributes.\"net income\".outside \"null\" needs null = true beside it");
}

}  // namespace
}  // namespace residua
