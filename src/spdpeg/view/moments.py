"""Second moments of the rows, made when they are first asked for and kept for all problems on the same rows."""

from ..sums.moments import DiagonalMoments, Moments, Quadratic, ShiftedSignal, is_diagonal
from .rows import LabelledRows


class KeptMoments:
    """Those of some rows; problems that share the rows share this object."""

    def __init__(self, rows: LabelledRows) -> None:
        self._rows = rows
        self._signal: bool | None = None
        self._loss: Quadratic | None = None
        self._shifted: ShiftedSignal | None = None
        self._compared = False
        """Whether somebody has looked if the rows are a signal with an intercept."""
        self._owed = 0

    @property
    def known(self) -> bool:
        """Whether `loss` reads nothing."""
        return self._loss is not None

    @property
    def is_signal(self) -> bool:
        """Whether the loss is squared and no row of X has more than one entry: X is the identity, or diagonal."""
        if self._signal is None:
            self._signal = self._are_squares and is_diagonal(self._rows.block)
        return self._signal

    @property
    def shifted_signal(self) -> ShiftedSignal | None:
        """The mean loss of a signal with an intercept: rows with the same single entry each; None for other rows."""
        if not self._compared:
            self._compared = True
            if self._are_squares:
                block = self._rows.block
                self._shifted = ShiftedSignal.of(block)
                self._owed += 0 if self._shifted is None else block.labels.size
        return self._shifted

    @property
    def loss(self) -> Quadratic:
        """The mean squared loss from its second moments; one read if it was not known."""
        if self._loss is None:
            rows = self._rows
            self._loss = DiagonalMoments.of(rows.block) if self.is_signal else rows.sums.moments().loss(rows.bias)
            self._owed = rows.sums.n_rows
        return self._loss

    def adopt(self, moments: Moments) -> None:
        """Take second moments that are known to be those of the rows, as those of a fold follow from the others."""
        self._loss, self._signal, self._compared = moments.loss(self._rows.bias), False, True

    def uncounted_rows(self) -> int:
        """Rows that were read since this was last asked; the run that asks counts them as its own."""
        owed, self._owed = self._owed, 0
        return owed

    @property
    def _are_squares(self) -> bool:
        """Whether the loss is squared and rows can be had, all of them."""
        rows = self._rows
        return rows.loss.quadratic and rows.in_memory and rows.n_samples is not None
