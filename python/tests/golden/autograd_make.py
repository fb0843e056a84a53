"""Writes torch's answers to the cases beside this file: ``python autograd_make.py`` where torch is installed."""

import json
import pathlib

import autograd_cases
import function_cases
import functional_cases
import linalg_cases
import modules_cases
import protocol_cases

#: File of answers -> the cases.
GROUPS = {
    "autograd": autograd_cases,
    "function": function_cases,
    "functional": functional_cases,
    "linalg": linalg_cases,
    "modules": modules_cases,
    "protocol": protocol_cases,
}

if __name__ == "__main__":
    import torch

    for group, module in GROUPS.items():
        answers = {}
        for name, run in module.CASES.items():
            try:
                answers[name] = run(torch)
            except Exception as error:
                raise RuntimeError(f"case {group}.{name}") from error
        pathlib.Path(__file__).with_name(f"{group}.json").write_text(json.dumps(answers, indent=0) + "\n")
