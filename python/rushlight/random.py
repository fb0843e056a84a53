"""The state of the generator that ops use when none is given."""

from ._C import default_generator

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed):
    """Seeds the default generator, and gives it."""
    return default_generator.manual_seed(int(seed))


def seed():
    """Seeds the default generator with a number that nobody chose, and gives that."""
    return default_generator.seed()


def initial_seed():
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state():
    """Where the default generator is: a tensor of uint8."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Puts the default generator back to where ``get_rng_state`` found it.

    TypeError: no tensor of uint8. RuntimeError: bytes of another origin.
    """
    default_generator.set_state(new_state)


class fork_rng:
    """At the end of the block the default generator is where it was at the start.

    The arguments are torch's; there is one generator for all devices.
    """

    def __init__(self, devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
        self._enabled = enabled
        self._before = []

    def __enter__(self):
        self._before.append(get_rng_state() if self._enabled else None)

    def __exit__(self, *exc):
        state = self._before.pop()
        if state is not None:
            set_rng_state(state)

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def run(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return run


