#include <gtest/gtest.h>

#include "tests/sql/oracle.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  tidemark::sql::testing::take_oracle_arguments(argc, argv);
  return RUN_ALL_TESTS();
}
