def greeting(name: str) -> str:
    return f"You talk with {name}."
