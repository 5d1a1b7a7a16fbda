// UTF-8, the one encoding of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::sql {

// Valid UTF-8 without NUL, as PostgreSQL takes text.
bool is_valid_text(std::string_view bytes);

// Characters of valid UTF-8; of other bytes, some number not above the size.
size_t count_characters(std::string_view text);
// The byte offset of character `index`, or the size if there are fewer.
size_t offset_of_character(std::string_view text, size_t index);

void append_utf8(uint32_t code_point, std::string& out);
// Bytes of the character that starts with `lead`.
int utf8_length(char lead);

}  // namespace tidemark::sql
