package httpapi

import "testing"

// BenchmarkScan measures the cost of the count for a request.
func BenchmarkScan(b *testing.B) {
	request := []byte("GET /v1/search?q=usb+cable&slots=4&device=desktop HTTP/1.1\r\nHost: ads.example:8080\r\nUser-Agent: somebody/1.0\r\nAccept: application/json\r\n" +
		"Accept-Encoding: gzip, deflate\r\nX-Request-Id: 0123456789abcdef\r\nConnection: keep-alive\r\n\r\n")
	var f framing
	for b.Loop() {
		f.scan(request)
	}
}
