"""The eight data sets of the paper: their sizes, their homes and where they differ from the paper's table."""

from dataclasses import dataclass

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
DOCDATA = "https://www.shi-zhong.com/software/docdata.zip"


@dataclass(frozen=True)
class Entry:
    """A data set that lives in a file.

    Attributes
    ----------
    home : str
        Address of the file, or of a zip archive that holds it.
    shapes : dict
        Rows and columns that are accepted, each with how it differs from the paper's table, empty if it does not.
    classes : int
    is_text : bool
        Counts of words, whose rows are scaled to unit norm.
    sha256 : str or None
        Of what the home sends, where it is known.
    """

    home: str
    shapes: dict[tuple[int, int], str]
    classes: int = 2
    is_text: bool = False
    sha256: str | None = None


def _libsvm(name: str, shapes: dict[tuple[int, int], str], sha256: str | None = None) -> Entry:
    return Entry(LIBSVM + name, shapes, sha256=sha256)


def _docdata(shapes: dict[tuple[int, int], str], classes: int) -> Entry:
    return Entry(DOCDATA, shapes, classes, is_text=True)


CATALOGUE = {
    "splice": _libsvm("splice", {(1000, 60): ""}),
    "svmguide3": _libsvm("svmguide3", {(1243, 22): "column 22 is zero; the paper counts 21 columns"}),
    "mushrooms": _libsvm(
        "mushrooms", {(8124, 112): ""}, "f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538"
    ),
    "a9a": _libsvm("a9a", {(32561, 123): ""}, "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
    "w8a": _libsvm(
        "w8a",
        {(49749, 300): "the training part; the paper's 64,700 rows include the test part", (64700, 300): ""},
        "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2",
    ),
    "hitech": _docdata({(2301, 10080): ""}, 6),
    "k1b": _docdata(
        {(2340, 21819): "the columns of the authors' graph; the paper's table says 21,839", (2340, 21839): ""}, 6
    ),
    "classic": _docdata({(7094, 41681): ""}, 4),
}
