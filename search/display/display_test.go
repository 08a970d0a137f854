package display_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/search/display"
)

// standard returns what encoding/json writes for v without HTML escapes.
func standard(t testing.TB, v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestEveryCharacterIsWrittenAsEncodingJSONDoes checks all of Unicode, including surrogates and
// numbers beyond it, alone and within text.
func TestEveryCharacterIsWrittenAsEncodingJSONDoes(t *testing.T) {
	var all []byte
	for r := rune(-1); r <= utf8.MaxRune+1; r++ {
		all = utf8.AppendRune(all, r)
		all = append(all, 'x')
	}
	for c := range 256 {
		all = append(all, 'a', byte(c), 'b', byte(c), byte(c))
	}
	got, want := display.AppendString(nil, string(all)), standard(t, string(all))
	if string(got) != want {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Fatalf("from byte %d: %q, want %q", i, got[i:min(len(got), i+40)], want[i:min(len(want), i+40)])
	}
	for c := range 256 {
		s := string([]byte{byte(c)})
		if got := string(display.AppendString(nil, s)); got != standard(t, s) {
			t.Errorf("%q: %s, want %s", s, got, standard(t, s))
		}
	}
}

// text draws texts that are hard to write: bytes that are not UTF-8, escapes, JavaScript's line
// ends.
func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{
			"a", `"`, `\`, "/", "<&>", "\x00", "\b\f\n\r\t", "\x1f", "\x7f", "\u2028", "\u2029", "\u2027", "�",
			"\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf", "é", "👩‍👩‍👧", `\u0041`,
		})), func(s []string) string { return strings.Join(s, "") }),
	)
}

// TestPiecesAreWhatEncodingJSONWrites: pieces are what encoding/json writes. Reading them gives the
// original texts, with U+FFFD for bytes that are not UTF-8.
func TestPiecesAreWhatEncodingJSONWrites(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(text(), 0, 4)
		var names [4]string
		for i := range names {
			names[i] = text().Draw(rt, "name")
		}
		ad := display.Ad{Headlines: list.Draw(rt, "headlines"), Descriptions: list.Draw(rt, "descriptions"),
			Path1: text().Draw(rt, "path 1"), Path2: text().Draw(rt, "path 2"), FinalURL: text().Draw(rt, "url")}
		path := ad.Path1
		if ad.Path2 != "" {
			path += "/" + ad.Path2
		}
		p := display.New(names[0], names[1], names[2], names[3], &ad)
		wants := []string{standard(t, names[0]), standard(t, names[1]), standard(t, names[2]), standard(t, names[3]),
			standard(t, append([]string{}, ad.Headlines...)), standard(t, append([]string{}, ad.Descriptions...)), standard(t, path), standard(t, ad.FinalURL)}
		v, ok := p.Values()
		gots := [][]byte{v.Advertiser, v.Campaign, v.Group, v.Keyword, v.Headlines, v.Descriptions, v.Path, v.FinalURL}
		for i := range gots {
			if !ok || string(gots[i]) != wants[i] {
				rt.Fatalf("value %d: %s, want %s", i, gots[i], wants[i])
			}
		}
		if again := display.AppendAd(bytes.Clone(display.Names(p.Group)), &ad); !bytes.Equal(again, p.Group) {
			rt.Fatalf("%s with its names again: %s", p.Group, again)
		}
		checkContent(rt, p)
	})
}

// checkContent compares the decoded content with what encoding/json decodes.
func checkContent(t interface{ Fatalf(string, ...any) }, p display.Pieces) {
	c, err := p.Content()
	if err != nil {
		t.Fatalf("%s %s: %v", p.Keyword, p.Group, err)
	}
	var keyword string
	var group []any
	if err := json.Unmarshal(p.Keyword, &keyword); err != nil {
		t.Fatalf("%s: %v", p.Keyword, err)
	}
	if err := json.Unmarshal(p.Group, &group); err != nil {
		t.Fatalf("%s: %v", p.Group, err)
	}
	got := []any{c.Keyword, c.Advertiser, c.Campaign, c.Group, list(c.Headlines), list(c.Descriptions), c.Path, c.FinalURL}
	if want := append([]any{keyword}, group...); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}

func list(texts []string) []any {
	all := []any{}
	for _, s := range texts {
		all = append(all, s)
	}
	return all
}

var sound = display.New("Acme \u2028", "C\n", `G"`, "usb", &display.Ad{
	Headlines: []string{"one", "two"}, Descriptions: []string{"d"}, Path1: "p", Path2: "q", FinalURL: "https://a.example/"})

func TestDamagedPiecesAreRecognised(t *testing.T) {
	group := string(sound.Group)
	for name, p := range map[string]display.Pieces{
		"none":               {},
		"no keyword":         {Group: sound.Group},
		"no group":           {Keyword: sound.Keyword},
		"a keyword too many": {Keyword: []byte(`"a""b"`), Group: sound.Group},
		"a member":           {Keyword: []byte(`"a","price_micros":1`), Group: sound.Group},
		"a number":           {Keyword: []byte(`1`), Group: sound.Group},
		"a line end":         {Keyword: []byte("\"a\nb\""), Group: sound.Group},
		"not UTF-8":          {Keyword: []byte("\"a\xff\""), Group: sound.Group},
		"an escape":          {Keyword: []byte(`"\x41"`), Group: sound.Group},
		"a short escape":     {Keyword: []byte(`"\u004"`), Group: sound.Group},
		"an open escape":     {Keyword: []byte(`"\`), Group: sound.Group},
		"a space":            {Keyword: sound.Keyword, Group: []byte(strings.Replace(group, ",", ", ", 1))},
		"a value too many":   {Keyword: sound.Keyword, Group: []byte(group[:len(group)-1] + `,"x"]`)},
		"more after it":      {Keyword: sound.Keyword, Group: []byte(group + `]`)},
		"a list in a list":   {Keyword: sound.Keyword, Group: []byte(strings.Replace(group, `["d"]`, `[["d"]]`, 1))},
		"a list that ends":   {Keyword: sound.Keyword, Group: []byte(strings.Replace(group, `["d"]`, `["d",]`, 1))},
		"null":               {Keyword: sound.Keyword, Group: []byte(strings.Replace(group, `["d"]`, `null`, 1))},
	} {
		if v, ok := p.Values(); ok {
			t.Errorf("%s: %+v", name, v)
		}
		if _, err := p.Content(); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range sound.Group {
		if _, ok := (display.Pieces{Keyword: sound.Keyword, Group: sound.Group[:n]}).Values(); ok {
			t.Errorf("cut at %d", n)
		}
	}
}

// FuzzValues: the values found in any bytes are valid JSON, and together they make up the pieces.
func FuzzValues(f *testing.F) {
	f.Add(sound.Keyword, sound.Group)
	f.Add([]byte(`"\u00e9\ud800"`), []byte(`["","","",[],[],"",""]`))
	f.Fuzz(func(t *testing.T, keyword, group []byte) {
		p := display.Pieces{Keyword: keyword, Group: group}
		v, ok := p.Values()
		if !ok {
			return
		}
		all := bytes.Join([][]byte{v.Advertiser, v.Campaign, v.Group, v.Headlines, v.Descriptions, v.Path, v.FinalURL}, []byte(","))
		if string(group) != "["+string(all)+"]" || !bytes.Equal(keyword, v.Keyword) {
			t.Fatalf("%s %s: %+v", keyword, group, v)
		}
		checkContent(t, p)
	})
}

func BenchmarkValues(b *testing.B) {
	p := display.New("Čapek & Söhne", "Kábely a adaptéry", "USB kabely", "usb kabel", &display.Ad{
		Headlines:    []string{"USB kabely skladem", "Doprava zdarma", "Výběr z 300 kabelů"},
		Descriptions: []string{"Nejširší výběr kabelů s doručením do druhého dne.", "Vrácení do 30 dnů bez udání důvodu."},
		Path1:        "usb", Path2: "kabely", FinalURL: "https://www.example.com/usb-kabely?utm_source=ads"})
	b.SetBytes(int64(len(p.Keyword) + len(p.Group)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := p.Values(); !ok {
			b.Fatal(ok)
		}
	}
}
