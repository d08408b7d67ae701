"""Plans of random hierarchies with weights of levels, and how far each is at most above any mechanism.

    python3 bench/tree_survey.py [--seed 7001] [--cells 30000 6000] [--residua build/release/residua]

Four shapes of trees, each at most 3, 6 and 12 groups deep, with weights of levels over four and six orders of magnitude:
the parts of a group have very different sizes, and one in five is not divided further. Groups may hold one cell or one
group. Each takes the next seed, and a seed gives the same tree everywhere. The last two trees are the worst ones of an
earlier survey, with its seeds. Processor seconds are those of `residua plan`, spec file and bound included.
"""

import argparse
import itertools
import json
import random
import resource
import subprocess
import tempfile
from pathlib import Path

SHAPES = {
    "pareto": lambda bits: int(bits.paretovariate(0.8)),
    "log": lambda bits: int(2 ** bits.uniform(0, 7)),
    "uniform": lambda bits: bits.randint(1, 12),
    "binary": lambda bits: 2,
}
DEPTHS = (6, 3, 12)
DECADES = (6, 4)
WORST_BEFORE = ((468, 30000, 6, "pareto", 6), (288, 30000, 6, "log", 4))


class Tree:
    """Nested groups of numbered cells."""

    def __init__(self, bits, cells, depth, shape):
        self.num_cells = self.num_groups = 0
        self._bits, self._num_parts = bits, SHAPES[shape]
        root = self._split(cells, depth)
        self.root = root if isinstance(root[0], list) else [root]

    def _split(self, cells, depth):
        if depth == 0 or cells <= 1:
            self.num_cells += cells
            return list(range(self.num_cells - cells, self.num_cells))
        num_parts = max(1, min(cells, self._num_parts(self._bits)))
        shares = [self._bits.paretovariate(0.7) for _ in range(num_parts)]
        total = sum(shares)
        sizes = [max(1, int(cells * share / total)) for share in shares]
        return [self._split(size, depth - 1 if self._bits.random() < 0.8 else 0) for size in sizes]

    def num_levels(self):
        def height(part):
            return 1 + max(map(height, part)) if isinstance(part, list) else 0

        return height(self.root)

    def toml(self, part=None):
        part = self.root if part is None else part
        if not isinstance(part[0], list):
            return "[" + ",".join(f'"v{cell}"' for cell in part) + "]"
        groups = []
        for group in part:
            self.num_groups += 1
            groups.append(f"g{self.num_groups}={self.toml(group)}")
        return "{" + ",".join(groups) + "}"


def survey(residua, folder, seed, cells, depth, shape, decades):
    bits = random.Random(seed)
    tree = Tree(bits, cells, depth, shape)
    groups = tree.toml()
    levels = tree.num_levels()
    weights = [float(f"{10 ** bits.uniform(-decades / 2, decades / 2):.4g}") for _ in range(levels)]
    values = [f"v{cell}" for cell in range(tree.num_cells)]
    spec = folder / "spec.toml"
    spec.write_text(
        f'[data]\nsource = "none.csv"\n[privacy]\nrho = 0.5\n[workload]\nmarginals = "<=1"\n[attributes.place]\n'
        f'values = {values}\nqueries = "hierarchy"\nlevel_weights = {weights}\nhierarchy = {groups}\n'
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    plan = subprocess.run([residua, "plan", spec, "--json"], stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    above = json.loads(plan.stdout)["above_lower_bound"]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"| {seed} | {shape} | {tree.num_cells} | {tree.num_groups} | {levels} | 10^{decades} | {seconds:.1f} |",
        "- |" if above is None else f"{100 * above:.3f} % |",
        flush=True,
    )
    return above


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seed", type=int, default=7001)
    arguments.add_argument("--cells", type=int, nargs="+", default=[30000, 6000])
    arguments.add_argument("--residua", type=Path, default=Path("build/release/residua"))
    given = arguments.parse_args()
    trees = itertools.product(given.cells, SHAPES, DEPTHS, DECADES)
    trees = [(given.seed + k, cells, depth, shape, decades) for k, (cells, shape, depth, decades) in enumerate(trees)]
    print("| seed | shape | cells | groups | levels | weights over | processor s | above any mechanism |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        above = [survey(given.residua.resolve(), Path(folder), *tree) for tree in (*trees, *WORST_BEFORE)]
    bounded = [100 * a for a in above if a is not None]
    print(f"\n{len(bounded)} of {len(above)} have a bound; the largest is {max(bounded):.3f} %.")


if __name__ == "__main__":
    main()
