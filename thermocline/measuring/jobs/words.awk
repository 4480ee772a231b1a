# Counts made-up words in associative arrays and rewrites them: strings of many lengths.
# -v words=N: how many there are.
BEGIN {
    distinct_words = int(words * 20011 / 150000)
    seed = 42
    for (i = 0; i < words; i++) {
        seed = (seed * 16807) % 2147483647
        word = "w" seed % distinct_words
        count[word]++
        if (seed % 3 == 0)
            text[seed % 997] = text[seed % 997] " " word
        if (seed % 1009 == 0)
            delete count[word]
    }
    for (key in text) {
        gsub(/1/, "one", text[key])
        parts = split(text[key], part, " ")
        for (i = 1; i <= parts; i++)
            again[substr(part[i], 1, 4)]++
        total += length(text[key])
    }
    for (word in count)
        distinct += count[word] > 3
    print total, distinct, length(again)
}
