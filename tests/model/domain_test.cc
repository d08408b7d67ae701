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

}  // namespace
}  // namespace residua
