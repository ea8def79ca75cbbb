/* The pilot on Arm's MPS2 board with a Cortex-M3 (AN385), as qemu-system-arm has it: UART 0 is the line to the host,
 * timer 0 the clock. For another board write four functions: two for its UART, its clock, and what starts main(). */
#include "client/bare/isochron_serial.h"
#include "examples/bare/pilot.h"

#define REGISTER(address) (*(volatile uint32_t*)(address))
#define UART_DATA REGISTER(0x40004000U)
#define UART_STATE REGISTER(0x40004004U) /* 1: no room to send; 2: a byte came */
#define UART_CONTROL REGISTER(0x40004008U)
#define UART_DIVISOR REGISTER(0x40004010U)
#define TIMER_CONTROL REGISTER(0x40000000U)
#define TIMER_VALUE REGISTER(0x40000004U) /* counts down */
#define TIMER_RELOAD REGISTER(0x40000008U)

enum { CLOCK_HZ = 25000000, BAUD = 921600 };

static int uart_send(void* context, const uint8_t* bytes, size_t size) {
  size_t n = 0;
  (void)context;
  while (n < size && (UART_STATE & 1U) == 0) UART_DATA = bytes[n++];
  return (int)n;
}

static int uart_receive(void* context, uint8_t* bytes, size_t size) {
  size_t n = 0;
  (void)context;
  while (n < size && (UART_STATE & 2U) != 0) bytes[n++] = (uint8_t)UART_DATA;
  return (int)n;
}

/* The timer goes round in 171 s; whoever looks more often sees a clock that does not. */
static int64_t uart_clock(void* context) {
  static uint32_t last = 0xffffffffU;
  static uint64_t counts = 0;
  const uint32_t value = TIMER_VALUE;
  (void)context;
  counts += last - value;
  last = value;
  return (int64_t)(counts * (1000000000U / CLOCK_HZ));
}

/* This board has no source of randomness: the nonce is new, but can be guessed. The host's cannot. */
static void make_nonce(uint8_t nonce[32]) {
  const uint64_t now = (uint64_t)uart_clock(0);
  size_t i;
  for (i = 0; i < 32; ++i) nonce[i] = (uint8_t)((now * 0x9e3779b97f4a7c15U) >> (i % 8 * 8));
}

static isochron_serial serial;
static isochron_bare robot;

static int run(uint16_t session) {
  static uint8_t key[32], nonce[32];
  const isochron_bare_transport uart = {0, uart_send, uart_receive, uart_clock};
  isochron_bare_transport line;
  isochron_bare_who who = {"prey/pilot", 0, 0, nonce};
  int status;
  who.key_size = pilot_key(key);
  if (who.key_size > 0) who.key = key;
  make_nonce(nonce);
  isochron_serial_open(&serial, &uart, BAUD, session);
  isochron_serial_transport(&serial, &line);
  status = fly(&robot, &line, &who);
  isochron_bare_leave(&robot);
  isochron_serial_close(&serial);
  return status;
}

/* Tells the emulator, or a debugger, that the program has ended, and how. */
static void finish(uint32_t status) {
  static uint32_t arguments[2];
  register uint32_t operation __asm__("r0") = 0x20; /* exit, extended */
  register uint32_t* at __asm__("r1") = arguments;
  arguments[0] = 0x20026; /* the application has ended */
  arguments[1] = status;
  __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(at) : "memory");
}

int main(void) {
  uint16_t session;
  UART_DIVISOR = CLOCK_HZ / BAUD;
  UART_CONTROL = 3; /* sends and receives */
  TIMER_RELOAD = 0xffffffffU;
  TIMER_VALUE = 0xffffffffU;
  TIMER_CONTROL = 1;
  session = (uint16_t)uart_clock(0);
  while (run(++session) != ISOCHRON_BARE_ENDED) { /* the host is not there yet, or again */
  }
  finish(0);
  return 0;
}

/* What starts it, and what compilers take for granted. */
extern uint32_t data_begin, data_end, data_values, bss_begin, bss_end, stack_top;
void start(void);
void hang(void);

void hang(void) {
  finish(1);
  for (;;) {
  }
}

void start(void) {
  uint32_t *to, *from = &data_values;
  for (to = &data_begin; to != &data_end;) *to++ = *from++;
  for (to = &bss_begin; to != &bss_end;) *to++ = 0;
  main();
  hang();
}

void* memset(void* to, int value, size_t size);
void* memset(void* to, int value, size_t size) {
  volatile uint8_t* at = (volatile uint8_t*)to;
  while (size-- > 0) *at++ = (uint8_t)value;
  return to;
}

void* memcpy(void* to, const void* from, size_t size);
void* memcpy(void* to, const void* from, size_t size) {
  volatile uint8_t* at = (volatile uint8_t*)to;
  const uint8_t* source = (const uint8_t*)from;
  while (size-- > 0) *at++ = *source++;
  return to;
}

typedef struct vector_table {
  uint32_t* stack;
  void (*handlers[15])(void);
} vector_table;
__attribute__((section(".vectors"), used)) static const vector_table vectors = {&stack_top,
                                                                                {start, hang, hang, hang, hang, hang}};
