async def embed(texts: list[str]) -> list[list[float]]:
    """Embeds texts so that texts with the same letters are similar: no model, no key, and deterministic."""
    return [
        [float(text.lower().count(chr(97 + letter))) for letter in range(26)]
        for text in texts
    ]
