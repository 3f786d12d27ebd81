def sign(text: str) -> str:
    return f"{text} (support)"
