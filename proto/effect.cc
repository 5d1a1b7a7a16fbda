#include "proto/effect.h"

namespace tidemark {

void append_effect(std::string& out, const Effect& effect) {
  put_u8(out, static_cast<uint8_t>(effect.kind));
  put_varint(out, effect.table.value);
  put_fixed64(out, effect.hash);
  put_bytes(out, effect.key);
  if (effect.kind != EffectKind::Delete) put_bytes(out, effect.row);
}

bool EffectReader::next(Effect& out) {
  if (reader_.done()) return false;
  out = Effect{};
  uint8_t kind = reader_.u8();
  if (kind < 1 || kind > 3) reader_.fail();
  out.kind = static_cast<EffectKind>(kind);
  out.table = TableId{reader_.varint32()};
  out.hash = reader_.fixed64();
  out.key = reader_.bytes();
  if (out.kind != EffectKind::Delete) out.row = reader_.bytes();
  return reader_.ok();
}

}  // namespace tidemark
