// go_http ADDRESS PORT: the standard library's server.
package main

import (
	"log"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/plain")
		to.Write([]byte("Hello, world!"))
	})
	log.Fatal(http.ListenAndServe(os.Args[1]+":"+os.Args[2], nil))
}
