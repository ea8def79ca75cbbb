#include "examples/bare/pilot.h"

/* As msg/robot_types.hpp has them. */
typedef struct motion {
  double position[3], orientation[4], linear[3], angular[3];
} motion;
typedef struct wrench {
  double force[3], torque[3];
} wrench;

int fly(isochron_bare* robot, const isochron_bare_transport* transport, const isochron_bare_who* who) {
  static motion at;
  static wrench push; /* no torque */
  uint32_t pose = 0, thrust = 0;
  int i, status = isochron_bare_attach(robot, transport, who);
  if (status == ISOCHRON_BARE_OK) status = isochron_bare_bind(robot, "pose", 0, sizeof at, &pose);
  if (status == ISOCHRON_BARE_OK) status = isochron_bare_bind(robot, "wrench", 0, sizeof push, &thrust);
  while (status == ISOCHRON_BARE_OK) {
    status = isochron_bare_wait(robot, 20000000, 0);
    if (status == ISOCHRON_BARE_OK) status = isochron_bare_read(robot, pose, &at, sizeof at);
    if (status != ISOCHRON_BARE_OK) break;
    for (i = 0; i < 3; ++i) push.force[i] = -2 * at.position[i] - 2.5 * at.linear[i];
    status = isochron_bare_write(robot, thrust, &push, sizeof push);
  }
  return status;
}

#ifdef PILOT_KEY
static uint8_t digit(char c) { return (uint8_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10); }

size_t pilot_key(uint8_t key[32]) {
  static const char text[] = PILOT_KEY;
  size_t i;
  for (i = 0; i < 32 && i < sizeof text / 2; ++i) key[i] = (uint8_t)(digit(text[2 * i]) * 16 + digit(text[2 * i + 1]));
  return i;
}
#else
size_t pilot_key(uint8_t key[32]) {
  (void)key;
  return 0;
}
#endif
