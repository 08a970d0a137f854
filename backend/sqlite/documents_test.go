package sqlite

import (
	"bytes"
	"testing"

	"adshard/backend"
	"adshard/fault"
)

// TestDamagedDocuments: damaged documents are found by a check and by their readers.
func TestDamagedDocuments(t *testing.T) {
	for what, damage := range map[string]string{
		"another byte":    "UPDATE document_part SET data = zeroblob(length(data)) WHERE part = 1",
		"a shorter part":  "UPDATE document_part SET data = x'00' WHERE part = 1",
		"a part missing":  "DELETE FROM document_part WHERE part = 0",
		"another version": "UPDATE document SET version = 77",
		"another size":    "UPDATE document SET size = size - 1",
		"too large":       "UPDATE document SET size = 1 << 40",
	} {
		s := opened(t, byHand(t, ""))
		_, err := s.SaveDocument(t.Context(), "x", 0, bytes.Repeat([]byte("x"), backend.DocumentPart+2))
		if err != nil {
			t.Fatal(err)
		}
		if r := mustCheck(t, s); len(r.Damage) > 0 {
			t.Fatal(r.Damage)
		}
		if err := s.write(t.Context(), "damage", func(c *conn) error { return c.exec(damage) }); err != nil {
			t.Fatal(err)
		}
		if r := mustCheck(t, s); len(r.Damage) != 1 {
			t.Errorf("%s: %v", what, r.Damage)
		}
		d, err := s.Document(t.Context(), "x")
		if err == nil {
			_, err = backend.ReadDocument(t.Context(), d, s.DocumentPart)
		}
		if !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
