class Task:
    def __init__(self, name, cost):
        self.name, self.cost, self.done = name, cost, 0

    def step(self):
        self.done += 1
        return self.done < self.cost


class Patient(Task):
    def step(self):
        return super().step() or False


def run(tasks):
    steps = 0
    while tasks:
        tasks = [t for t in tasks if t.step()]
        steps += len(tasks)
    return steps


run([(Task if i % 2 else Patient)(f"t{i}", i % 211) for i in range(6000)])
