import operator
from typing import Annotated

from pydantic import BaseModel, Field


class Trip(BaseModel):
    """A trip to a city."""

    city: str = Field(description="Where to")
    hotel: str | None = None
    nights: int = Field(default=1, ge=1)
    log: Annotated[list[str], operator.add] = Field(default_factory=list)
