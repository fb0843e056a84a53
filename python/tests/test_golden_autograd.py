"""Autograd, linear algebra and modules as torch does them: each case in ``golden`` gives what torch gave."""

import json

import pytest
import rushlight

from autograd_golden import answers, differences

import autograd_cases
import function_cases
import functional_cases
import linalg_cases
import modules_cases
import protocol_cases

GROUPS = {
    "autograd": autograd_cases,
    "function": function_cases,
    "functional": functional_cases,
    "linalg": linalg_cases,
    "modules": modules_cases,
    "protocol": protocol_cases,
}


@pytest.mark.parametrize(("group", "name"), [(g, n) for g, module in GROUPS.items() for n in module.CASES])
def test_as_torch(group, name):
    got = json.loads(json.dumps(GROUPS[group].CASES[name](rushlight)))
    assert differences(got, answers(group)[name]) == []


@pytest.mark.parametrize("group", list(GROUPS))
def test_every_case_has_an_answer(group):
    assert set(answers(group)) == set(GROUPS[group].CASES)
