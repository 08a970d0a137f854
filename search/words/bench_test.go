package words

import "testing"

var benchKeywords = map[string]string{
	"ascii": "usb c charging cable 2m",
	"upper": "USB-C Charging Cable 2m",
	"latin": "příliš žluťoučký kůň levně",
	"other": "кабель usb для зарядки",
}

func BenchmarkSplit(b *testing.B) {
	for name, text := range benchKeywords {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Split(text)
			}
		})
	}
}

func BenchmarkAnalyser(b *testing.B) {
	for name, text := range benchKeywords {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var a Analyser
			for b.Loop() {
				ws, _ := a.Keyword(text)
				for _, w := range ws {
					a.Term("en", w)
				}
			}
		})
	}
}

func BenchmarkStem(b *testing.B) {
	for _, l := range Stemmed() {
		b.Run(l, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Stem(l, "batteries")
			}
		})
	}
}
