package spelling_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search/spelling"
	"adshard/search/words"
)

// parse returns the vocabulary of some keywords, each one word.
func parse(t testing.TB, keywords ...string) *spelling.Vocabulary {
	t.Helper()
	var c spelling.Counter
	for _, k := range keywords {
		split, err := words.Split(k)
		if err == nil {
			err = c.Add(split)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	v, err := spelling.Parse(c.Text())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func corrections(v *spelling.Vocabulary, word string) []string {
	if v.Has(words.Hash(word)) {
		return nil
	}
	return v.Corrections(word)
}

// TestCorrections: one line for each clause of the specification.
func TestCorrections(t *testing.T) {
	v := parse(t, "keyboard usb", "wireless keyboard", "keyboard", "wireless", "cable", "table", "headphone", "headphones", "cabin", "kabel",
		"10inch", "room", "rooms", "roomy", "broom", "groom", "rooma", "roomb", "roomb roomb", "accommodation")
	for word, want := range map[string][]string{
		"keybord":        {"keyboard"},                        // a letter is missing
		"keybboard":      {"keyboard"},                        // one too many
		"kexboard":       {"keyboard"},                        // another one
		"keybaord":       {"keyboard"},                        // two are swapped: one edit
		"kyebaord":       nil,                                 // two swaps, eight letters
		"keyboard":       nil,                                 // a keyword has it
		"eyboard":        nil,                                 // the first letter is kept
		"jeyboard":       nil,                                 //
		"ekyboard":       nil,                                 //
		"cabl":           nil,                                 // four letters
		"cabel":          {"cable"},                           // not table, not kabel; cabin is two edits away
		"wirelss1":       nil,                                 // digits
		"10inhc":         nil,                                 //
		"headpone":       {"headphone"},                       // eight letters: one edit
		"headphne":       {"headphone"},                       //
		"headphons":      {"headphone", "headphones"},         // nine: two edits, and fewer come first
		"acomodation":    {"accommodation"},                   // two
		"acomodatoin":    nil,                                 // three
		"roomx":          {"room", "rooma", "roomb", "rooms"}, // at most four: equal edits and frequencies by code points
		"wirelesskeybor": nil,
	} {
		got := corrections(v, word)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// TestOrder: fewer edits come first, then more keywords, then lower code points.
func TestOrder(t *testing.T) {
	v := parse(t, "abcdefghi", "abcdefghk", "abcdefghk", "abcdefgh", "abcdefgxx", "abcdefgxx", "abcdefgxx")
	want := []string{"abcdefghk", "abcdefgh", "abcdefghi", "abcdefgxx"}
	if got := corrections(v, "abcdefghj"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAsTheOracle compares the corrections with those of a slow search, for words of few letters, in all lengths at
// which the rules or the index change.
func TestAsTheOracle(t *testing.T) {
	corrected := 0
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOfN(rapid.SampledFrom([]rune("ab7žÿ文́")), 1, 13)
		frequencies := map[string]int{}
		var list []string
		for _, l := range rapid.SliceOfN(letters, 0, 60).Draw(t, "vocabulary") {
			w := "a" + string(l)
			list = append(list, w)
			frequencies[w] = rapid.IntRange(1, 3).Draw(t, "frequency")
		}
		var c spelling.Counter
		for w, n := range frequencies {
			for range n {
				if err := c.Add([]words.Word{{Fold: w}, {Fold: w}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		v, err := spelling.Parse(c.Text())
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			word := "a" + string(letters.Draw(t, "word"))
			if len(list) > 0 && rapid.Bool().Draw(t, "a misspelt one") {
				word = misspelt(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), rapid.SampledFrom(list).Draw(t, "well spelt"), 2)
			}
			got, want := corrections(v, word), oracle.Corrections(frequencies, word)
			if !slices.Equal(got, want) {
				t.Fatalf("%q: %q, want %q", word, got, want)
			}
			corrected += len(got)
		}
	})
	if corrected == 0 {
		t.Error("no word was corrected")
	}
}

// TestWordsThatBeginAlike: however many words begin alike, few are compared, those that most keywords have, as by the
// oracle.
func TestWordsThatBeginAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	frequencies := map[string]int{}
	for _, begins := range []string{"abcdefgh", "abcde"} {
		for range 1_500 {
			word := []byte(begins)
			for range 1 + r.IntN(5) {
				word = append(word, 'a'+byte(r.IntN(26)))
			}
			frequencies[string(word)] = 1 + r.IntN(3)
		}
	}
	v := oracletest.Vocabulary(frequencies).(*spelling.Vocabulary)
	list := slices.Sorted(maps.Keys(frequencies))
	more, bounded := 0, 0
	for i := range 20 {
		word := misspelt(r, list[r.IntN(len(list))], 2)
		if i%2 == 0 {
			word = "abcdefgh" + word[len(word)-3:]
		}
		got, want := corrections(v, word), oracle.Corrections(frequencies, word)
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", word, got, want)
		}
		if more = max(more, len(got)); v.Work(word) > 20_000 {
			bounded++
		}
		if n := v.Work(word); n > 21*1_500 {
			t.Fatalf("%q: %d entries are read", word, n)
		}
	}
	if more != 4 || bounded == 0 {
		t.Errorf("at most %d corrections, %d words with many alike", more, bounded)
	}
}

// TestVersion: the version depends on the keywords only, not on their order.
func TestVersion(t *testing.T) {
	a, b, c := parse(t, "usb cable", "red cable"), parse(t, "cable red", "cable usb"), parse(t, "usb cable")
	if a.Version() != b.Version() || a.Version() == c.Version() || len(a.Version()) != 16 || a.Len() != 1 {
		t.Errorf("%s %s %s", a.Version(), b.Version(), c.Version())
	}
	if v := parse(t); v.Len() != 0 || corrections(v, "wireles") != nil {
		t.Error("an empty vocabulary corrects")
	}
}

// TestParseRefuses: a text with anything else is damaged, and one of other rules of words says so.
func TestParseRefuses(t *testing.T) {
	h := spelling.Header()
	for _, c := range []struct {
		text string
		kind fault.Kind
	}{
		{"", fault.Corrupt}, {"cable 1\n", fault.Corrupt}, {strings.Replace(h, "rules", "rulez", 1) + "cable 1\n", fault.Version},
		{h + "cable 1", fault.Corrupt}, {h + "cable\n", fault.Corrupt}, {h + "cable 0\n", fault.Corrupt}, {h + "cable 01\n", fault.Corrupt},
		{h + "cable +1\n", fault.Corrupt}, {h + "cable -1\n", fault.Corrupt}, {h + "cable 1 \n", fault.Corrupt}, {h + "cable 4294967296\n", fault.Corrupt},
		{h + "usb 1\n", fault.Corrupt}, {h + "cable7 1\n", fault.Corrupt}, {h + "cabl\xff 1\n", fault.Corrupt}, {h + "\n", fault.Corrupt},
		{h + "cable 1\ncable 1\n", fault.Corrupt}, {h + "table 1\ncable 1\n", fault.Corrupt}, {h + "cable 1\ntable 2\n", fault.Corrupt},
	} {
		if _, err := spelling.Parse(c.text); !fault.Is(err, c.kind) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	if v, err := spelling.Parse(h + "table 2\ncable 1\n"); err != nil || v.Len() != 2 {
		t.Error(err)
	}
}

// TestTooManyWords: the memory of a counter is bounded; words that are known are still counted.
func TestTooManyWords(t *testing.T) {
	c := spelling.NewCounter(2)
	for _, k := range []string{"usb cable", "table", "cable cable", "cable lamp usb"} {
		split, _ := words.Split(k)
		if err := c.Add(split); fault.Is(err, fault.Unavailable) != (k == "cable lamp usb") {
			t.Errorf("%s: %v", k, err)
		}
	}
}

// FuzzParse: no text makes Parse or Corrections fail, and what is read corrects as the oracle says.
func FuzzParse(f *testing.F) {
	f.Add("table 2\ncable 1\n", "cabel")
	f.Add("headphone 1\nheadphones 1\n", "headphons")
	f.Add("cable 2\ncable 1\n", "cabel")
	f.Fuzz(func(t *testing.T, lines, word string) {
		v, err := spelling.Parse(spelling.Header() + lines)
		if err != nil {
			return
		}
		frequencies := map[string]int{}
		for line := range strings.Lines(lines) {
			w, n, _ := strings.Cut(line, " ")
			var err error
			if frequencies[w], err = strconv.Atoi(strings.TrimSuffix(n, "\n")); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.ContainsRune(word, '�') && len(word) < 200 {
			if got, want := corrections(v, word), oracle.Corrections(frequencies, word); !slices.Equal(got, want) {
				t.Fatalf("%q: %q, want %q", word, got, want)
			}
		}
	})
}
