"""Tasks in Python, as tasks/task.hpp has them in C++: initialise, loop until a condition, finalise; tasks within tasks;
time limits in simulated time; a result and figures, which are also a line of the program's log.

    class Approach(Task):
        def initialise(self): self.robot.write("speed", 1.0)
        def done(self):       return self.robot.read("range") < 0.5
        def step(self):       self.robot.wait(0.010)
        def finalise(self):   self.robot.write("speed", 0.0); return self.robot.now

    outcome = Approach(robot).run(limit=20.0)      # seconds
    if outcome.ok: print(outcome.result, outcome.took)
"""

_deadlines = [float("inf")]  # of the tasks that are running, the innermost last


class Outcome:
    """What a task came to: `result`, `ok` (False: its time was over), `took` in seconds, `steps`, `metrics`."""

    def __init__(self, result, ok, took, steps, metrics):
        self.result, self.ok, self.took, self.steps, self.metrics = result, ok, took, steps, metrics


class Task:
    name = None

    def __init__(self, robot):
        self.robot = robot
        self.metrics = {}

    def initialise(self):
        """Before the loop."""

    def done(self):
        """Asked before each step."""
        raise NotImplementedError

    def step(self):
        """Must let time pass: wait, read a sensor, compute."""
        raise NotImplementedError

    def finalise(self):
        """Called once, whatever ended the loop; what it returns is the result."""
        return None

    def run(self, limit=float("inf")):
        start, steps, ok = self.robot.now, 0, True
        _deadlines.append(min(_deadlines[-1], start + limit))
        try:
            self.initialise()
            while not self.done():
                if self.robot.now >= _deadlines[-1]:
                    ok = False
                    break
                self.step()
                steps += 1
            result = self.finalise()
        finally:
            _deadlines.pop()
        took = self.robot.now - start
        figures = "".join(f", {key} {value:g}" for key, value in sorted(self.metrics.items()))
        self.robot.log(f"task {self.name or type(self).__name__} {'done' if ok else 'timed out'} after {took:.6f} s, "
                       f"{steps} steps{figures}")
        return Outcome(result, ok, took, steps, self.metrics)
