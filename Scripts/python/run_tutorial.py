"""Runs a notebook from its first cell to its last and fails where a cell fails; writes nothing."""

import sys
from pathlib import Path

import nbclient
import nbformat

path = Path(sys.argv[1]).resolve()
notebook = nbformat.read(path, as_version=4)
nbclient.NotebookClient(
    notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}
).execute()
cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
if not all(cell.outputs or cell.source.endswith(";") or "=" in cell.source for cell in cells):
    sys.exit("a cell of the tutorial shows nothing")
print(f"{path.name}: {len(cells)} cells ran")
