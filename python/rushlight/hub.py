"""The hub of models, of which there is none here."""


def _absent(name):
    def call(*args, **kwargs):
        raise RuntimeError(
            f"hub.{name}: rushlight downloads no programs or models; get the code and the weights yourself, and load the weights "
            "from a file"
        )

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "RuntimeError: nothing is downloaded."
    return call


for _name in "download_url_to_file get_dir help list load load_state_dict_from_url set_dir".split():
    globals()[_name] = _absent(_name)
