package console

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"slices"
	"time"
)

// heatColours are those of console.css, .heat0 to .heat9; what is not known is transparent.
func heatColours() color.Palette {
	return hexColours(0x9aa3ad, 0x2c3e7a, 0x30559c, 0x2f77b4, 0x3a9bb5, 0x6fbf8f, 0xc3cf5c, 0xf2b33d, 0xee7a30, 0xd7301f)
}

// shardColours are those of console.css, .colour0 to .colour7.
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

// heatmap serves the ring over the last day as a picture, a column for each moment, now at the
// right, the first key at the top: by heat or, with ?by=shard, by shard.
func (c *Console) heatmap(w http.ResponseWriter, r *http.Request) {
	text, err := drawHeat(c.cfg.Memory.History.moments(), time.Now(), r.URL.Query().Get("by") == "shard")
	if err != nil {
		c.fail(w, r, http.StatusInternalServerError, "The picture cannot be drawn.")
		return
	}
	secure(w)
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(text)
}

// drawHeat returns the picture as PNG.
func drawHeat(list []moment, now time.Time, byShard bool) ([]byte, error) {
	colours, names := heatColours(), shardsOf(list)
	if byShard {
		colours = shardColours()
	}
	picture := image.NewPaletted(image.Rect(0, 0, columns, bands), colours)
	for _, m := range list {
		x := columns - 1 - int(now.Sub(m.at)/every)
		if x < 0 || x >= columns {
			continue
		}
		for y, b := range m.ring {
			at := int(b.heat)
			if byShard {
				at, _ = slices.BinarySearch(names, b.shard)
				at %= len(colours) - 1
			}
			picture.SetColorIndex(x, y, uint8(1+at))
		}
	}
	var text bytes.Buffer
	err := png.Encode(&text, picture)
	return text.Bytes(), err
}

// shardsOf returns the names of all shards of the day, in order.
func shardsOf(list []moment) (names []string) {
	for _, m := range list {
		for _, b := range m.ring {
			if i, known := slices.BinarySearch(names, b.shard); !known {
				names = slices.Insert(names, i, b.shard)
			}
		}
	}
	return names
}
