"""Models by address, of which none is downloaded here."""

from ..hub import load_state_dict_from_url

load_url = load_state_dict_from_url
