"""Draws the gaps of all captured plans, one row per framework.

    python chart.py DATASET FILE.svg

Every dot is a plan. Dots with nearly equal gaps are stacked. The scale of the gaps is that of a square root, so that
small gaps are visible. The picture follows the colour scheme of the page.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from html import escape
from pathlib import Path

WIDTH, LEFT, RIGHT = 780, 160, 190
ROW, TOP, STEP, RADIUS = 78, 84, 6.0, 2.6
TICKS = (0, 1, 5, 10, 20, 30, 50, 75, 100, 150, 200)
STYLE = (
    "@media (prefers-color-scheme:dark){svg{fill:#e4e4e4}.page{fill:#17191e}.soft{fill:#b0b0b0}.grid{stroke:#3a3d44}"
    ".dot{fill:#7db4e0}.mean{stroke:#f0a35e;fill:#f0a35e}}"
)


def stacked(xs: list[float], middle: float) -> list[tuple[float, float]]:
    """Returns the centres of dots at these positions. Dots in one bin lie above each other, around `middle`, in columns
    to the left if they are many."""
    bins: dict[int, list[float]] = defaultdict(list)
    for x in sorted(xs):
        bins[round(x / STEP)].append(x)
    dots = []
    for place, own in bins.items():
        columns = 1 + (len(own) - 1) // int((ROW - 14) / STEP)
        rows = -(-len(own) // columns)
        step = min(STEP, (ROW - 14) / rows)
        for at in range(len(own)):
            column, row = divmod(at, rows)
            height = min(rows, len(own) - column * rows)
            x = place * STEP - column * STEP
            dots.append((x, middle + (row - (height - 1) / 2) * step))
    return dots


def main() -> int:
    dataset, target = Path(sys.argv[1]), Path(sys.argv[2])
    gaps: dict[str, list[float]] = defaultdict(list)
    with (dataset / "manifest.csv").open() as file:
        for row in csv.DictReader(file):
            gaps[row["framework"]].append(float(row["gap_percent"]))
    order = sorted(gaps, key=lambda name: sum(gaps[name]) / len(gaps[name]))
    most = max(max(own) for own in gaps.values())
    inner = WIDTH - LEFT - RIGHT
    height = TOP + ROW * len(order) + 44

    def x_of(gap: float) -> float:
        return LEFT + inner * (gap / most) ** 0.5

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="14" fill="#222">',
        f"<style>{STYLE}</style>",
        '<rect class="page" width="100%" height="100%" fill="#fff"/>',
        '<text x="16" y="30" font-size="18" font-weight="600">Production planners above the proven floor</text>',
        '<text x="16" y="52" class="soft" fill="#555">One dot per plan; the orange mark is the mean of the '
        "framework</text>",
    ]
    bottom = TOP + ROW * len(order)
    for tick in (tick for tick in TICKS if tick <= most):
        x = x_of(tick)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 12}" y2="{bottom}" class="grid" stroke="#ddd"/>')
        out.append(
            f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle" font-size="12" class="soft" fill="#555">'
            f"{tick} %</text>"
        )
    out.append(f'<text x="{LEFT}" y="{bottom + 37}" font-size="12" class="soft" fill="#555">gap to the floor</text>')
    for at, name in enumerate(order):
        own, middle = gaps[name], TOP + ROW * at + ROW / 2 - 6
        mean, tight = sum(own) / len(own), sum(gap == 0 for gap in own)
        out.append(f'<text x="16" y="{middle}" font-weight="600">{escape(name)}</text>')
        out.append(f'<text x="16" y="{middle + 17}" font-size="12" class="soft" fill="#555">{len(own)} plans</text>')
        dots = stacked([x_of(gap) for gap in own], middle)
        out += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="#2f6fa8"/>' for x, y in dots]
        x, half = x_of(mean), ROW / 2 - 5
        out.append(
            f'<line class="mean" x1="{x:.1f}" x2="{x:.1f}" y1="{middle - half:.1f}" y2="{middle + half:.1f}" '
            'stroke="#c55a11" stroke-width="2"/>'
        )
        texts = [f"mean {mean:.1f} %, worst {max(own):.1f} %", f"{tight} at the floor"]
        for line, text in enumerate(texts):
            y = middle + 17 * line
            out.append(f'<text x="{WIDTH - RIGHT + 14}" y="{y}" font-size="12" class="soft" fill="#555">{text}</text>')
    target.write_text("\n".join([*out, "</svg>"]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
