s/ in [0-9.]* seconds//
