"""What writes to office files share: checked operations, styles, assets, tracked changes."""
