"""Second moments of the rows, made when they are first asked for and kept for all problems on the same rows."""

from ..data import Block
from ..losses import Loss
from ..sums import Sums
from ..sums.moments import DiagonalMoments, Moments, Quadratic, ShiftedSignal, is_diagonal


class KeptMoments:
    """Those of a block; problems that share its rows share this object."""

    def __init__(self) -> None:
        self._signal: bool | None = None
        self._loss: Quadratic | None = None
        self._shifted: ShiftedSignal | None = None
        self._compared = False
        """Whether somebody has looked if the rows are a signal with an intercept."""
        self._owed = 0

    @property
    def known(self) -> bool:
        """Whether they were made."""
        return self._loss is not None

    def is_signal(self, block: Block | None, loss: Loss) -> bool:
        """Whether the loss is squared and no row has more than one entry."""
        if self._signal is None:
            self._signal = loss.quadratic and block is not None and is_diagonal(block)
        return self._signal

    def shifted(self, block: Block | None, loss: Loss) -> ShiftedSignal | None:
        """The mean loss of a signal with an intercept; None for other rows, and other losses."""
        if not self._compared:
            self._compared = True
            if loss.quadratic and block is not None:
                self._shifted = ShiftedSignal.of(block)
                self._owed += 0 if self._shifted is None else block.labels.size
        return self._shifted

    def loss(self, sums: Sums, block: Block | None, loss: Loss, bias: float) -> Quadratic:
        """The mean loss; one read if it was not known."""
        if self._loss is None:
            if block is not None and self.is_signal(block, loss):
                self._loss = DiagonalMoments.of(block)
            else:
                self._loss = sums.moments().loss(bias)
            self._owed = sums.n_rows
        return self._loss

    def adopt(self, moments: Moments, bias: float) -> None:
        """Take moments that follow from others, as those of a fold."""
        self._loss, self._signal, self._compared = moments.loss(bias), False, True

    def uncounted_rows(self) -> int:
        """Rows that were read for them and that no run has counted yet; the caller counts them."""
        owed, self._owed = self._owed, 0
        return owed
