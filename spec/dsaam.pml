/* The formal model: paper 001's nodes (waiting, consuming, emitting) with observation and event flows added, as DESIGN's
 * table of keys orders them. Spin explores every interleaving of one small system, chosen with -DINSTANCE=n:
 *
 *   progress   no process ends anywhere but at its end ("invalid end state" otherwise)
 *   rules 1-4  as assertions
 *
 * A key is 4*time + phase, so that keys compare as numbers: phase 0 emit (predictive), 1 consume, 2 observe and events.
 * A line is one sink of one flow. Events are sent whenever the model likes, at most one pending for each flow.
 */

#define NONE 255
#ifndef STOP
#if INSTANCE == 7
#define STOP 5
#else
#define STOP 7
#endif
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif
#define PREDICTIVE 0
#define OBSERVATION 1
#define EVENT 2

#if INSTANCE == 1        /* the paper's example: three nodes, four flows, five lines */
#define NODES 3
#define FLOWS 4
#define LINES 5
#elif INSTANCE == 2      /* dynamics -> sensor (observation) -> controller -> dynamics, a buffer of one */
#define NODES 3
#define FLOWS 3
#define LINES 3
#elif INSTANCE == 3      /* two observations whose stamps meet at 6: deadlock, and it must be found */
#define NODES 2
#define FLOWS 2
#define LINES 2
#elif INSTANCE == 4      /* two observations whose stamps never meet: fine */
#define NODES 2
#define FLOWS 2
#define LINES 2
#elif INSTANCE == 5      /* an event flow with lookahead 0 against a prediction: fine */
#define NODES 2
#define FLOWS 2
#define LINES 2
#elif INSTANCE == 6      /* an event flow with lookahead 0 against an observation: deadlock */
#define NODES 2
#define FLOWS 2
#define LINES 2
#elif INSTANCE == 7      /* events with lookahead 1 both ways and a clock */
#define NODES 3
#define FLOWS 3
#define LINES 3
#endif

byte source[FLOWS];
byte kind[FLOWS];
byte period[FLOWS];      /* of events: lookahead */
byte next[FLOWS];        /* S; of events: the pending one or NONE */
byte bound[FLOWS];       /* of events: what is promised */
byte flow_of[LINES];
byte sink[LINES];
byte promised[LINES];    /* T when nothing is there; not of events */
chan buffer[LINES] = [CAPACITY] of { byte, byte };

#define FREE(f, line) (flow_of[line] != (f) || len(buffer[line]) < CAPACITY)
#if LINES == 2
#define ROOM(f) (FREE(f, 0) && FREE(f, 1))
#elif LINES == 3
#define ROOM(f) (FREE(f, 0) && FREE(f, 1) && FREE(f, 2))
#else
#define ROOM(f) (FREE(f, 0) && FREE(f, 1) && FREE(f, 2) && FREE(f, 3) && FREE(f, 4))
#endif

inline declare_flow(f, from, what, every, first) {
  source[f] = from; kind[f] = what; period[f] = every;
  if
  :: what == EVENT -> next[f] = NONE; bound[f] = 0
  :: else -> next[f] = first
  fi
}
inline connect(line, f, to) {
  flow_of[line] = f; sink[line] = to;
  if
  :: kind[f] == EVENT -> promised[line] = 0
  :: else -> promised[line] = next[f]
  fi
}
inline consider(key_value, is_input, number) {
  if
  :: key_value < key -> key = key_value; input = is_input; port = number
  :: else
  fi
}
/* T of a line: the stamp at the head, or what was promised. */
inline stamp_of(line, into) {
  if
  :: len(buffer[line]) > 0 -> buffer[line]?<into, other>
  :: len(buffer[line]) == 0 && kind[flow_of[line]] == EVENT -> into = bound[flow_of[line]]
  :: len(buffer[line]) == 0 && kind[flow_of[line]] != EVENT -> into = promised[line]
  fi
}
inline decide() {
  key = NONE; port = NONE; i = 0;
  do
  :: i < LINES ->
     if
     :: sink[i] == me -> stamp_of(i, t); consider(4 * t + 1, true, i)
     :: else
     fi;
     i++
  :: else -> break
  od;
  i = 0;
  do
  :: i < FLOWS ->
     if
     :: source[i] == me && kind[i] == PREDICTIVE -> consider(4 * next[i], false, i)
     :: source[i] == me && kind[i] == OBSERVATION -> consider(4 * next[i] + 2, false, i)
     :: source[i] == me && kind[i] == EVENT && next[i] != NONE && next[i] < STOP && ROOM(i) ->
        consider(4 * (next[i] - period[i]) + 2, false, i)
     :: else
     fi;
     i++
  :: else -> break
  od;
  promise()
}
/* Nulls: they never block and cost no room. */
inline promise() {
  i = 0;
  do
  :: i < FLOWS ->
     if
     :: source[i] == me && kind[i] == EVENT ->
        t = key / 4 + period[i];
        if :: key == NONE -> t = STOP :: else fi;
        if :: next[i] < t -> t = next[i] :: else fi;
        if :: t > bound[i] -> bound[i] = t :: else fi
     :: else
     fi;
     i++
  :: else -> break
  od
}
/* The user's code: it may send an event in answer to what happened at `now`. */
inline maybe_send_event(now) {
  i = 0;
  do
  :: i < FLOWS ->
     if
     :: source[i] == me && kind[i] == EVENT && next[i] == NONE -> next[i] = now + period[i]
     :: source[i] == me && kind[i] == EVENT && next[i] == NONE -> next[i] = now + period[i] + 1
     :: true
     fi;
     i++
  :: else -> break
  od
}
inline consume(line) {
  buffer[line]?t, other;
  assert(kind[flow_of[line]] == EVENT || t == promised[line]);  /* rule 4: nothing lost, nothing doubled */
  assert(t + 1 >= consumed_at);                                 /* rule 1 */
  assert(t >= emitted_at);                                      /* rule 2 */
  consumed_at = t + 1;
  promised[line] = other;
  maybe_send_event(t)
}
inline emit(f) {
  t = next[f];
  if
  :: kind[f] == PREDICTIVE -> assert(t + 1 > consumed_at); other = t + period[f]   /* rule 3 */
  :: kind[f] == OBSERVATION -> assert(t + 1 >= consumed_at); other = t + period[f]
  :: else -> other = t
  fi;
  if :: kind[f] != EVENT -> emitted_at = t :: else fi;
  i = 0;
  do
  :: i < LINES ->
     if
     :: flow_of[i] == f -> buffer[i]!t, other
     :: else
     fi;
     i++
  :: else -> break
  od;
  if
  :: kind[f] == EVENT -> next[f] = NONE
  :: else -> next[f] = other; maybe_send_event(t)
  fi
}
/* An event that waited for room has it now: decide again. */
#define EVENT_MAY_GO (event != NONE && next[event] != NONE && next[event] < STOP && ROOM(event))

proctype Node(byte me; byte event) {
  byte key, port, i, t, other, known;
  byte consumed_at;  /* one more than the latest stamp consumed; 0 = none */
  byte emitted_at;
  bool input;
waiting:
  atomic { decide() };
  if
  :: key / 4 >= STOP || port == NONE -> goto ended
  :: else
  fi;
  if
  :: input && kind[flow_of[port]] == EVENT ->
     atomic {
       known = key / 4;
       (len(buffer[port]) > 0 || bound[flow_of[port]] > known || EVENT_MAY_GO) ->
       if
       :: len(buffer[port]) > 0 ->
          buffer[port]?<t, other>;
          if
          :: t == known -> consume(port)
          :: else
          fi
       :: else
       fi
     }
  :: input && kind[flow_of[port]] != EVENT ->
     atomic {
       (len(buffer[port]) > 0 || EVENT_MAY_GO) ->
       if
       :: len(buffer[port]) > 0 && !EVENT_MAY_GO -> consume(port)
       :: else
       fi
     }
  :: !input ->
     atomic {
       (ROOM(port) || EVENT_MAY_GO) ->
       if
       :: ROOM(port) -> emit(port)
       :: else
       fi
     }
  fi;
  goto waiting;
ended:
  /* Its last event may still wait for room. */
  atomic { (event == NONE || next[event] == NONE || next[event] >= STOP || ROOM(event)) ->
    if
    :: EVENT_MAY_GO -> emit(event); decide()
    :: else
    fi
  }
}

init {
  atomic {
#if INSTANCE == 1
    declare_flow(0, 0, PREDICTIVE, 2, 0); declare_flow(1, 0, PREDICTIVE, 3, 1);
    declare_flow(2, 1, PREDICTIVE, 1, 0); declare_flow(3, 2, PREDICTIVE, 2, 1);
    connect(0, 0, 1); connect(1, 0, 2); connect(2, 2, 2); connect(3, 1, 2); connect(4, 3, 0);
    run Node(0, NONE); run Node(1, NONE); run Node(2, NONE)
#elif INSTANCE == 2
    declare_flow(0, 0, PREDICTIVE, 1, 0); declare_flow(1, 1, OBSERVATION, 2, 0); declare_flow(2, 2, PREDICTIVE, 3, 0);
    connect(0, 0, 1); connect(1, 1, 2); connect(2, 2, 0);
    run Node(0, NONE); run Node(1, NONE); run Node(2, NONE)
#elif INSTANCE == 3
    declare_flow(0, 0, OBSERVATION, 3, 0); declare_flow(1, 1, OBSERVATION, 2, 2);
    connect(0, 0, 1); connect(1, 1, 0);
    run Node(0, NONE); run Node(1, NONE)
#elif INSTANCE == 4
    declare_flow(0, 0, OBSERVATION, 2, 0); declare_flow(1, 1, OBSERVATION, 2, 1);
    connect(0, 0, 1); connect(1, 1, 0);
    run Node(0, NONE); run Node(1, NONE)
#elif INSTANCE == 5
    declare_flow(0, 0, PREDICTIVE, 2, 0); declare_flow(1, 1, EVENT, 0, 0);
    connect(0, 0, 1); connect(1, 1, 0);
    run Node(0, NONE); run Node(1, 1)
#elif INSTANCE == 6
    declare_flow(0, 0, OBSERVATION, 2, 1); declare_flow(1, 1, EVENT, 0, 0);
    connect(0, 0, 1); connect(1, 1, 0);
    run Node(0, NONE); run Node(1, 1)
#elif INSTANCE == 7
    declare_flow(0, 0, PREDICTIVE, 2, 0); declare_flow(1, 1, EVENT, 1, 0); declare_flow(2, 2, EVENT, 1, 0);
    connect(0, 0, 1); connect(1, 1, 2); connect(2, 2, 1);
    run Node(0, NONE); run Node(1, 1); run Node(2, 2)
#endif
  }
}
