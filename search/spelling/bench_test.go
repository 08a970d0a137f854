package spelling_test

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"adshard/search/spelling"
	"adshard/search/words"
)

var benchWords = flag.Int("words", 0, "words of Debian's lists in the vocabulary of benchmarks; 0: a few that are made up")

// dictionary returns n words of Debian's word lists (packages wamerican-insane, wngerman, wfrench,
// wportuguese, wdutch, wdanish, wspanish, wswedish, witalian), in a fixed random order. It skips the
// test if there are fewer.
func dictionary(t testing.TB, n int) []string {
	files, _ := filepath.Glob("/usr/share/dict/*")
	seen := make(map[string]bool)
	for _, name := range files {
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || strings.HasSuffix(name, "polish") {
			continue // Polish alone would be most of them
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			list, err := words.Split(lines.Text())
			for _, w := range list {
				if err == nil && spelling.InVocabulary(w.Fold) {
					seen[w.Fold] = true
				}
			}
		}
		_ = f.Close()
	}
	list := make([]string, 0, len(seen))
	for w := range seen {
		list = append(list, w)
	}
	if len(list) < n {
		t.Skipf("/usr/share/dict has %d words, not %d", len(list), n)
	}
	slices.Sort(list)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:n]
}

// ranked returns a vocabulary's text in which the i-th word has the frequency 1 + 100,000/(i+1).
func ranked(list []string) string {
	type entry struct {
		word  string
		count int
	}
	entries := make([]entry, len(list))
	for i, w := range list {
		entries[i] = entry{w, 1 + 100_000/(i+1)}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.word, b.word))
	})
	var b strings.Builder
	b.WriteString(spelling.Header())
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %d\n", e.word, e.count)
	}
	return b.String()
}

// misspelt makes one to `edits` edits in a word, none in its first letter.
func misspelt(r *rand.Rand, word string, edits int) string {
	letters := []rune(word)
	for range edits {
		if len(letters) < 2 {
			break
		}
		i := 1 + r.IntN(len(letters)-1)
		switch r.IntN(4) {
		case 0:
			letters = slices.Delete(letters, i, i+1)
		case 1:
			letters = slices.Insert(letters, i, 'a'+rune(r.IntN(26)))
		case 2:
			letters[i] = 'a' + rune(r.IntN(26))
		case 3:
			if i+1 < len(letters) {
				letters[i], letters[i+1] = letters[i+1], letters[i]
			}
		}
	}
	return string(letters)
}

// vocabulary returns the words of benchmarks.
func vocabulary(b *testing.B) []string {
	if *benchWords > 0 {
		return dictionary(b, *benchWords)
	}
	r := rand.New(rand.NewPCG(5, 6))
	seen := make(map[string]bool)
	for len(seen) < 20_000 {
		word := make([]byte, 5+r.IntN(8))
		for i := range word {
			word[i] = 'a' + byte(r.IntN(26))
		}
		seen[string(word)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func BenchmarkCorrections(b *testing.B) {
	list := vocabulary(b)
	text := ranked(list)
	v, err := spelling.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	queries := map[string][]string{}
	for range 20_000 {
		w := list[r.IntN(len(list))]
		queries["known"] = append(queries["known"], w)
		for edits := 1; edits <= 2; edits++ {
			if m := misspelt(r, w, edits); spelling.Edits(m) == edits && !v.Has(words.Hash(m)) {
				name := fmt.Sprint("unknown/edits=", edits)
				queries[name] = append(queries[name], m)
			}
		}
	}
	for _, name := range []string{"known", "unknown/edits=1", "unknown/edits=2"} {
		b.Run(name, func(b *testing.B) {
			list, found := queries[name], 0
			b.ReportAllocs()
			began := processorTime(b)
			for i := range b.N {
				if w := list[i%len(list)]; !v.Has(words.Hash(w)) {
					found += len(v.Corrections(w))
				}
			}
			b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(found)/float64(b.N), "corrections/op")
			b.ReportMetric(float64(v.Bytes())/float64(v.Len()), "B/word")
		})
	}
}

// processorTime returns the nanoseconds of processor time that the process has used.
func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkParse(b *testing.B) {
	text := ranked(vocabulary(b))
	b.ReportAllocs()
	began := processorTime(b)
	for b.Loop() {
		if _, err := spelling.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op")
}
