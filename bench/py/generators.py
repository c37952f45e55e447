class Tree:
    def __init__(self, left, value, right):
        self.left, self.value, self.right = left, value, right

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


def tree(values):
    n = len(values)
    if n == 0:
        return None
    i = n // 2
    return Tree(tree(values[:i]), values[i], tree(values[i + 1:]))


t = tree(range(20000))
sum(sum(t) for _ in range(5))
