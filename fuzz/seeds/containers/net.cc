#include <cstdint>
alignas(8) const uint8_t net[] = { // a model
  0x1c, 0, 0x00u, 'a', 0x54, 0x46,
};
int8_t more[2] = {-1, 255};
