package chart

import (
	"fmt"
	"strconv"
	"strings"
)

// open begins a drawing with its title.
func open(b *strings.Builder, title string, width, height float64) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %s %s" width="%s" height="%s" font-family="sans-serif" font-size="12" fill="currentColor">`,
		num(width), num(height), num(width), num(height))
	fmt.Fprintf(b, `<title>%s</title>`, escape(title))
	text(b, 0, 15, "start", "bold", title)
}

func line(b *strings.Builder, x1, x2, y1, y2 float64, style string) {
	fmt.Fprintf(b, `<line x1="%s" x2="%s" y1="%s" y2="%s" %s/>`, num(x1), num(x2), num(y1), num(y2), style)
}

func text(b *strings.Builder, x, y float64, anchor, weight, s string) {
	fmt.Fprintf(b, `<text x="%s" y="%s" text-anchor="%s" font-weight="%s">%s</text>`, num(x), num(y), anchor, weight, escape(s))
}

// num formats a coordinate.
func num(v float64) string { return fmt.Sprintf("%.1f", v) }

// Number formats a number of an axis: three digits, or with a comma, such as
// 3,500.
func Number(v float64) string {
	if v < 1000 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace
