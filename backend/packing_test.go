package backend

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
)

// drawLines draws a text of thousands of lines, and a copy with few of them changed.
func drawLines(t *rapid.T) (before, after string) {
	n := rapid.IntRange(1, 30_000).Draw(t, "lines")
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("domain\thost-%d.example\n", i)
	}
	before = strings.Join(lines, "")
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		i := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
		switch rapid.SampledFrom([]string{"added", "gone", "other"}).Draw(t, "change") {
		case "added":
			lines = slices.Insert(lines, i, "domain\tadded.example\n")
		case "gone":
			lines[i] = ""
		case "other":
			lines[i] = strings.Repeat("x", rapid.IntRange(0, 200_000).Draw(t, "bytes")) + "\n"
		}
	}
	return before, strings.Join(lines, "")
}

// TestRepack: a repacked text is unpacked correctly whichever pieces it shares with the previous one, whether or not that
// one was unpacked before, and by readers that know nothing of pieces. The data is the same as if packed from scratch.
func TestRepack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := drawLines(t)
		data := PackDocument(before)
		var u Unpacker
		for i, step := range []struct{ text, was string }{{before, ""}, {after, before}, {before, after}} {
			if i > 0 {
				data = RepackDocument(step.text, step.was, data)
			}
			if !bytes.Equal(data, PackDocument(step.text)) {
				t.Fatalf("step %d: packed in a different way than anew", i)
			}
			known, err := u.Unpack(data)
			if err != nil || known != step.text {
				t.Fatalf("step %d, known: %v", i, err)
			}
			stream := data
			if list, ok := piecesOf(data); ok {
				stream = slices.Concat(slices.Collect(func(yield func([]byte) bool) {
					for _, p := range list {
						if !yield(p.packed) {
							return
						}
					}
				})...)
				stream = append(stream, lastBlock...)
			}
			if old, err := unpackWhole(stream, maxUnpacked); err != nil || old != step.text {
				t.Fatalf("step %d, without pieces: %v", i, err)
			}
		}
	})
}

// TestOneLineOfMany: a change of one line leaves nearly all pieces unchanged, for packing and for unpacking.
func TestOneLineOfMany(t *testing.T) {
	var lines []string
	for i := range 200_000 {
		lines = append(lines, fmt.Sprintf("domain\thost-%d.example\n", i))
	}
	before := strings.Join(lines, "")
	after := strings.Join(slices.Insert(lines, 77_777, "domain\tadded.example\n"), "")
	first := PackDocument(before)
	second := RepackDocument(after, before, first)
	had, _ := piecesOf(first)
	has, _ := piecesOf(second)
	if len(had) < 50 {
		t.Fatalf("%d pieces", len(had))
	}
	known, fresh := packedPieces(before, first), 0
	for text := after; text != ""; {
		var piece string
		if piece, text = cutPiece(text); known[piece] == nil {
			fresh++
		}
	}
	if fresh == 0 || fresh > 5 {
		t.Errorf("%d of %d pieces were packed again", fresh, len(has))
	}
	var u Unpacker
	if _, err := u.Unpack(first); err != nil {
		t.Fatal(err)
	}
	for _, p := range has {
		p.packed[len(p.packed)/2] ^= 0xff // pieces that are no longer known would be found damaged
	}
	if _, err := u.Unpack(second); !fault.Is(err, fault.Corrupt) {
		t.Errorf("damaged pieces: %v", err)
	}
	if text, err := u.Unpack(RepackDocument(after, before, first)); err != nil || text != after {
		t.Errorf("after damage: %v", err)
	}
}

// TestKeptEnd: the end of a text that an unpacker keeps is not unpacked again, but the rest is.
func TestKeptEnd(t *testing.T) {
	var lines []string
	for i := range 20_000 {
		lines = append(lines, fmt.Sprintf("a line with the number %d\n", i))
	}
	text := strings.Join(lines, "")
	for kept := range 5 {
		data := PackDocument(text)
		end := text[len(text)*kept/4:]
		var u Unpacker
		if _, err := u.Unpack(data); err != nil {
			t.Fatal(err)
		}
		u.Keep(strings.Clone(end))
		if got, err := u.Unpack(data); err != nil || got != text {
			t.Fatalf("%d of 4: another text, %v", kept, err)
		}
		u.Keep(end)
		list, _ := piecesOf(data)
		unknown, at := 0, 0
		for _, p := range list {
			if at < len(text)-len(end) {
				unknown++
			}
			at += p.size
		}
		if len(list) < 8 || len(u.known) != len(list)-unknown {
			t.Errorf("%d of 4: %d of %d pieces are known, and %d begin before", kept, len(u.known), len(list), unknown)
		}
	}
}

// TestDamagedPieces: the list of pieces is not trusted.
func TestDamagedPieces(t *testing.T) {
	text := strings.Repeat("a line of a document\n", 10_000)
	data := PackDocument(text)
	list, ok := piecesOf(data)
	if !ok || len(list) < 3 {
		t.Fatal("no pieces")
	}
	for name, change := range map[string]func(b []byte) []byte{
		"cut off":         func(b []byte) []byte { return b[:len(b)-1] },
		"without mark":    func(b []byte) []byte { return b[:len(b)-len(piecesMark)] },
		"something more":  func(b []byte) []byte { return append(b, 0) },
		"another length":  func(b []byte) []byte { b[len(b)-8]++; return b },
		"a huge length":   func(b []byte) []byte { b[len(b)-5] = 0xff; return b },
		"another size":    func(b []byte) []byte { b[len(b)-9]++; return b },
		"nothing":         func([]byte) []byte { return []byte("\x01\x00\x00\xff\xff\x00\x00\x00\x00" + piecesMark) },
		"a smaller piece": func(b []byte) []byte { b[bytes.LastIndex(b, lastBlock)+len(lastBlock)]--; return b },
		"tiny pieces": func([]byte) []byte {
			return []byte(string(lastBlock) + strings.Repeat("\x00\x00", 128) + "\x00\x01\x00\x00" + piecesMark)
		},
		"a claim of much": func([]byte) []byte {
			return []byte("\x00\x01\x00\x00\xff\xff" + "\x01\xff\xff\x7f" + "\x04\x00\x00\x00" + piecesMark)
		},
	} {
		if got, err := UnpackDocument(change(slices.Clone(data))); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v, %d bytes", name, err, len(got))
		}
	}
}

func FuzzUnpackDocument(f *testing.F) {
	f.Add(PackDocument("a"))
	f.Add(PackDocument(strings.Repeat("a line\n", 10_000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var u Unpacker
		text, err := u.Unpack(data)
		if again, err2 := u.Unpack(data); again != text || (err == nil) != (err2 == nil) {
			t.Fatalf("%v, then %v", err, err2)
		}
		if err != nil && !fault.Is(err, fault.Corrupt) {
			t.Fatal(err)
		}
	})
}
