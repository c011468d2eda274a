"""One part of the page."""

from dataclasses import dataclass

from pigou.report.markup import Html, element


@dataclass(frozen=True)
class Section:
    """A heading that can be linked to, and what stands under it."""

    name: str  # the link's target
    title: str
    content: tuple[Html, ...]

    @classmethod
    def of(cls, name: str, title: str, *content: Html) -> "Section":
        """A section of these parts."""
        return cls(name, title, content)

    def html(self) -> Html:
        """The section as it stands in the page."""
        return element("section", element("h2", self.title), *self.content, id=self.name)
