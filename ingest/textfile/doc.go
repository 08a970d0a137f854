// Package textfile reads tables and lines from text files as programs save them: in UTF-8, UTF-16 or, as invalid
// text, any other encoding; with commas, semicolons or tabs; quotes and line breaks within cells; pipes and standard
// input.
//
//	file, err := textfile.Open(ctx, name, os.Stdin)
//	text, err := textfile.Decode(file)
//	records := textfile.NewReader(text)
//	records.Separator = ','
//	cells, err := records.Next()
//
// A file of any size needs only the memory of one record, whose size is bounded. What the cells mean is up to the
// caller.
package textfile
