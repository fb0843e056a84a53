"""Writes expressions.json: what torch gives for each line of expressions.txt. Needs torch.

With --compare it shows where rushlight, which must be importable, gives something else.
"""

import json
import sys

from expressions import HERE, evaluate, expressions, same

if __name__ == "__main__":
    import torch

    answers = {line: evaluate(torch, line) for line in expressions()}
    if sys.argv[1:] == ["--compare"]:
        import rushlight

        for line, want in answers.items():
            got = evaluate(rushlight, line)
            if not same(want, got):
                print(line, "\n  want", want, "\n  got ", got)
    else:
        body = ",\n".join(f"{json.dumps(line)}: {json.dumps(answer)}" for line, answer in answers.items())
        (HERE / "expressions.json").write_text("{\n" + body + "\n}\n")
