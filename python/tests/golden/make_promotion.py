"""Writes promotion.json: torch's table of result dtypes. Needs torch."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import torch
from promotion import table

rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(letters)}" for name, letters in table(torch).items())
pathlib.Path(__file__).with_name("promotion.json").write_text("{\n" + rows + "\n}\n")
