package ingest

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// BenchmarkEditor reads and checks rows like those of exports; its metric is rows a second.
func BenchmarkEditor(b *testing.B) {
	const head = "Account,Campaign,Campaign Type,Labels,Ad Group,Keyword,Criterion Type,Max CPC,Quality score,First page bid,Top of page bid,Ad relevance,Campaign Status,Ad Group Status,Status,Approval Status\n"
	const rows = 10_000
	var text strings.Builder
	text.WriteString(head)
	for i := range rows {
		fmt.Fprintf(&text, "Acme,Campaign %d,,,Group %d,usb cable %d,Phrase,1.25,7,0.40,0.90,Average,Enabled,Enabled,Enabled,Approved\n", i/1000, i/20, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		src, err := newEditorSource(strings.NewReader(text.String()), "f", "")
		if err != nil {
			b.Fatal(err)
		}
		for {
			var e entry
			if err := src.next(&e); err == io.EOF {
				break
			} else if err != nil || e.reject != nil {
				b.Fatal(err, e.reject)
			}
		}
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}
