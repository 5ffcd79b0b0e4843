"""Pages to look at: each one HTML file with its data, its style and its scripts, which asks the network for nothing.

| file | what |
|---|---|
| frame | what all pages share: the frame, numbers as JSON, writing |
| document | a page of sections: sentences, charts, images, tables |
| model | the document of a fitted model |
| signal | the document of a signal or an image without its noise |
| explorer | the page of a path, with a slider for each weight |
| notebook | tables for notebooks |
"""

from . import document, explorer, frame, model, notebook, signal

__all__ = ["document", "explorer", "frame", "model", "notebook", "signal"]
