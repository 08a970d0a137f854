package console

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"time"
)

// heatColours returns the colours .heat0 to .heat9 of console.css, after a transparent one for heat
// that is not known.
func heatColours() color.Palette {
	return hexColours(0x9aa3ad, 0x2c3e7a, 0x30559c, 0x2f77b4, 0x3a9bb5, 0x6fbf8f, 0xc3cf5c, 0xf2b33d, 0xee7a30, 0xd7301f)
}

// shardColours returns the colours .colour0 to .colour7 of console.css, after a transparent one.
func shardColours() color.Palette {
	return hexColours(0x4c78a8, 0xf58518, 0x54a24b, 0xb279a2, 0x72b7b2, 0xe45756, 0xeeca3b, 0x9d755d)
}

func hexColours(list ...uint32) color.Palette {
	out := color.Palette{color.RGBA{}}
	for _, c := range list {
		out = append(out, color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255})
	}
	return out
}

// heatmap serves a picture of the ring over the last day. Each moment is a column, the present at
// the right, and the first key is at the top. The colours show heat or, with ?by=shard, the shard.
func (c *Console) heatmap(w http.ResponseWriter, r *http.Request) {
	h := &c.cfg.Memory.History
	draw := picture{heatColours(), heatOf}
	if r.URL.Query().Get("by") == "shard" {
		draw = picture{shardColours(), shardIn(h.colours(nil))}
	}
	text, err := draw.png(h.moments(), time.Now())
	if err != nil {
		c.fail(w, r, http.StatusInternalServerError, "The picture cannot be drawn.")
		return
	}
	secure(w)
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(text)
}

// picture says how the ring is painted: with which colours, the first of which means unknown, and
// which colour each band has.
type picture struct {
	colours color.Palette
	of      func(band) int
}

func heatOf(b band) int { return 1 + int(b.heat) }

func shardIn(colours map[string]int) func(band) int {
	return func(b band) int {
		if c, known := colours[b.shard]; known {
			return 1 + c
		}
		return 0
	}
}

// png draws a day's moments as a PNG.
func (p picture) png(list []moment, now time.Time) ([]byte, error) {
	out := image.NewPaletted(image.Rect(0, 0, columns, bands), p.colours)
	for _, m := range list {
		x := columns - 1 - int(now.Sub(m.at)/every)
		if x < 0 || x >= columns {
			continue
		}
		for y, b := range m.ring {
			out.SetColorIndex(x, y, uint8(p.of(b)))
		}
	}
	var text bytes.Buffer
	err := png.Encode(&text, out)
	return text.Bytes(), err
}
