"""Operations that add rules to cells and take them away: conditional formats, validations."""
