"""Operations on charts and pictures: how they come, change and go (F36)."""
