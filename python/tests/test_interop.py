"""Each line of code gives what torch gives: values, dtypes, strides, classes of errors."""

import pytest
from interop import cases, check


@pytest.mark.parametrize("line, expected", cases("numpy"))
def test_numpy(line, expected):
    check(line, expected)


@pytest.mark.parametrize("line, expected", cases("dlpack"))
def test_dlpack(line, expected):
    check(line, expected)


@pytest.mark.parametrize("line, expected", cases("storage"))
def test_storage(line, expected):
    check(line, expected)


@pytest.mark.parametrize("line, expected", cases("pickle"))
def test_pickle(line, expected):
    check(line, expected)


@pytest.mark.parametrize("line, expected", cases("data"))
def test_data(line, expected):
    check(line, expected)
