package textfile

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// wide encodes text as UTF-16 with a byte order mark.
func wide(text string, order binary.AppendByteOrder) string {
	b := order.AppendUint16(nil, 0xFEFF)
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func decodeAll(in string) (string, error) {
	r, err := Decode(iotest.OneByteReader(strings.NewReader(in)))
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(r)
	return string(out), err
}

func TestDecoded(t *testing.T) {
	const text = "Účet\tžluťoučký 𝐒 € \u0800\n"
	for name, in := range map[string]string{
		"utf-8":          text,
		"utf-8 with bom": "\ufeff" + text,
		"utf-16 le":      wide(text, binary.LittleEndian),
		"utf-16 be":      wide(text, binary.BigEndian),
	} {
		if got, err := decodeAll(in); got != text || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for in, want := range map[string]string{"": "", "a": "a", "ab": "ab", "\xff\xfe": "", "\xfe\xff": "", "\xef\xbb\xbf": ""} {
		if got, err := decodeAll(in); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestDecodedFaults(t *testing.T) {
	for name, in := range map[string]string{
		"odd byte":           "\xff\xfea\x00b",
		"half a pair at end": "\xff\xfea\x00\x35\xd8",
	} {
		if got, err := decodeAll(in); !errors.Is(err, errCutUnit) || got != "a" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, in := range map[string]string{
		"high alone": "\xff\xfe\x35\xd8a\x00", "low alone": "\xff\xfe\x00\xdca\x00", "two highs": "\xff\xfe\x35\xd8\x35\xd8\x00\xdca\x00",
	} {
		got, err := decodeAll(in)
		if err != nil || utf8.ValidString(got) || !strings.HasSuffix(got, "a") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for begins, want := range map[string]error{"\x1f\x8b\x08\x00": errGzip, "PK\x03\x04\x14": errBook, "\xd0\xcf\x11\xe0\xa1": errBook,
		"\x28\xb5\x2f\xfd\x04": errPacked, "\xfd7zXZ": errPacked} {
		if _, err := decodeAll(begins); !errors.Is(err, want) {
			t.Errorf("%q: %v", begins, err)
		}
	}
}

func TestDecodedAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if strings.HasPrefix(text, "\ufeff") || strings.ContainsAny(text[:min(1, len(text))], "\x1fP(") {
			return
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			r, err := Decode(&chunked{strings.NewReader(wide(text, order)), rapid.IntRange(1, 9).Draw(t, "chunk")})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); string(got) != text || err != nil {
				t.Fatalf("%q, %v", got, err)
			}
		}
	})
}
