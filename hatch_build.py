"""What a release is made of beside its files: the page that an index shows, and the native core, if it can be built.

The page is README.md, whose links lead to where the project lives.
``GRADWRIGHT_HOME`` is the address of the repository, which whoever builds a release knows; the links are made of it,
and so are the addresses among the metadata. Where it is not set, links into the repository become plain text.

The core is an extension of src/gradwright/native/*.c. ``GRADWRIGHT_CORE=0`` builds none, which gives the pure wheel;
with ``GRADWRIGHT_CORE=1`` failing to build it is an error. Else a package without it is made, and a line says why.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


def page(text: str, home: str) -> str:
    """The text with every link into the repository led to ``home``, or, if that is "", turned to its words."""

    def lead(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if not home:
            return f"*{words}*" if picture else words
        return f"{picture}[{words}]({home}/{'raw' if picture else 'blob'}/HEAD/{target})"

    return _LINK.sub(lead, text)


def urls(home: str) -> dict[str, str]:
    """The addresses of what a release points at."""
    if not home:
        return {}
    return {"Repository": home, "Issues": f"{home}/issues", "Changelog": f"{home}/blob/HEAD/CHANGELOG.md"}


class CustomMetadataHook(MetadataHookInterface):
    """Fills in ``readme`` and ``urls``, which pyproject.toml declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put them in."""
        home = os.environ.get("GRADWRIGHT_HOME", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": page(text, home)}
        metadata["urls"] = urls(home)


NATIVE = "src/gradwright/native"
_BUILD = """
import sys, numpy
from pathlib import Path
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext
sys.path.insert(0, sys.argv[1])
from gradwright.compilation.by_c import kernels
source, home, built_from, *files = sys.argv[1:]
define = [("GRADWRIGHT_BUILT_FROM", built_from)]
threads = ["-pthread"] if sys.platform != "win32" else []
extension = Extension("_core", files, include_dirs=[numpy.get_include()], define_macros=define, extra_link_args=threads)

class Build(build_ext):
    def build_extension(self, ext):
        if kernels.BUILT:
            ext.define_macros.append(("GRADWRIGHT_KERNELS", "1"))
            text = Path(home, "kernels.c")
            text.write_text(kernels.all_text(), encoding="utf-8")
            for name, flags in kernels.FORMS.items():
                ext.extra_objects += self.compiler.compile(
                    [str(text)], output_dir=f"{home}/{name}", include_dirs=[f"{source}/gradwright/native"],
                    macros=[("KERNELS", f"gradwright_kernels_{name}")], extra_postargs=flags)
        super().build_extension(ext)

command = Distribution({"ext_modules": [extension], "cmdclass": {"build_ext": Build}}).get_command_obj("build_ext")
command.build_lib = command.build_temp = home
command.ensure_finalized()
command.run()
"""


def build_core(root: str, home: str) -> Path:
    """The native core, built into the folder ``home``; RuntimeError, with the reason in a line, if that fails."""
    files = sorted(Path(root, NATIVE).resolve().glob("*.[ch]"))
    built_from = 0
    for path in files:
        built_from = zlib.crc32(path.read_bytes(), built_from)  # as gradwright.native.fingerprint
    code = [str(path) for path in files if path.suffix == ".c"]
    command = [sys.executable, "-c", _BUILD, str(Path(root, "src").resolve()), home, f"{built_from}u", *code]
    done = subprocess.run(command, cwd=home, env={**os.environ, "GRADWRIGHT_CORE": "0"}, capture_output=True, text=True,
                          errors="replace", check=False)  # fmt: skip
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise RuntimeError(next((line for line in said if "error" in line.lower()), said[-1]))
    return next(Path(home).glob("_core.*"))


class CustomBuildHook(BuildHookInterface[Any]):
    """Puts the native core into a wheel, or, for an editable install, beside its sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it."""
        asked = os.environ.get("GRADWRIGHT_CORE", "")
        if asked == "0" or sysconfig.get_config_var("Py_GIL_DISABLED"):
            return
        self.home = tempfile.mkdtemp(prefix="gradwright-core-")
        try:
            built = build_core(self.root, self.home)
        except RuntimeError as error:
            if asked == "1":
                raise
            sys.stderr.write(f"gradwright is installed without its native core, which was not built: {error}\n")
            return
        if version == "editable":
            there = Path(self.root, NATIVE, built.name)
            fresh = shutil.copy(built, there.with_name(f".{os.getpid()}{built.name}"))
            os.replace(fresh, there)  # it is not written over: programs that run have it in their memory
        else:
            build_data["force_include"][str(built)] = f"gradwright/native/{built.name}"
            build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Clear up."""
        shutil.rmtree(getattr(self, "home", ""), ignore_errors=True)
