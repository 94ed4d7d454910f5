// go_scheduler CASE WORKERS: goroutines and channels, as a Go program would have them.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	spawned   = 1000000
	yields    = 2000000
	items     = 10000000
	room      = 1024
	exchanges = 100000
	sleepers  = 100000
)

func skynet(to chan<- uint64, first, size uint64) {
	if size == 1 {
		to <- first
		return
	}
	part := size / 10
	sums := make(chan uint64, 10)
	for i := uint64(0); i < 10; i++ {
		go skynet(sums, first+i*part, part)
	}
	var sum uint64
	for i := 0; i < 10; i++ {
		sum += <-sums
	}
	to <- sum
}

func runSkynet() uint64 {
	result := make(chan uint64, 1)
	go skynet(result, 0, 1000000)
	return <-result
}

func runSpawnJoin() uint64 {
	var count uint64
	var mutex sync.Mutex
	for done := 0; done < spawned; done += 100 {
		var group sync.WaitGroup
		group.Add(100)
		for i := 0; i < 100; i++ {
			go func() {
				mutex.Lock()
				count++
				mutex.Unlock()
				group.Done()
			}()
		}
		group.Wait()
	}
	return count
}

func runYield() uint64 {
	var group sync.WaitGroup
	group.Add(2)
	for each := 0; each < 2; each++ {
		go func() {
			for i := 0; i < yields/2; i++ {
				runtime.Gosched()
			}
			group.Done()
		}()
	}
	group.Wait()
	return yields
}

func runChannel(pairs int) uint64 {
	between := make(chan uint64, room)
	sums := make(chan uint64, pairs)
	var producers sync.WaitGroup
	producers.Add(pairs)
	for each := 0; each < pairs; each++ {
		go func() {
			for i := 0; i < items/pairs; i++ {
				between <- 1
			}
			producers.Done()
		}()
		go func() {
			var sum uint64
			for item := range between {
				sum += item
			}
			sums <- sum
		}()
	}
	producers.Wait()
	close(between)
	var all uint64
	for each := 0; each < pairs; each++ {
		all += <-sums
	}
	return all
}

func runPingPong() uint64 {
	there, back := make(chan uint64, 1), make(chan uint64, 1)
	go func() {
		for i := 0; i < exchanges; i++ {
			back <- <-there + 1
		}
	}()
	var hits uint64
	for i := 0; i < exchanges; i++ {
		there <- hits
		hits = <-back
	}
	return hits
}

func runTimers() uint64 {
	var group sync.WaitGroup
	group.Add(sleepers)
	for i := 0; i < sleepers; i++ {
		go func(number int) {
			time.Sleep(time.Duration(1000+number%1000) * time.Microsecond)
			group.Done()
		}(i)
	}
	group.Wait()
	return sleepers
}

func main() {
	workers, _ := strconv.Atoi(os.Args[2])
	runtime.GOMAXPROCS(workers)
	cases := map[string]struct {
		run        func() uint64
		result     uint64
		operations float64
	}{
		"skynet":         {runSkynet, 499999500000, 0},
		"spawn_join":     {runSpawnJoin, spawned, spawned},
		"yield":          {runYield, yields, yields},
		"channel_1_to_1": {func() uint64 { return runChannel(1) }, items, items},
		"channel_4_to_4": {func() uint64 { return runChannel(4) }, items, items},
		"ping_pong":      {runPingPong, exchanges, exchanges},
		"timers":         {runTimers, sleepers, sleepers},
	}
	chosen, found := cases[os.Args[1]]
	if !found {
		os.Exit(2)
	}
	var took time.Duration
	for round := 0; round < 2; round++ {
		begun := time.Now()
		if chosen.run() != chosen.result {
			os.Exit(3)
		}
		took = time.Since(begun)
	}
	if chosen.operations == 0 {
		fmt.Printf("time ms %.4f\n", float64(took.Nanoseconds())/1e6)
	} else {
		fmt.Printf("time ns/op %.3f\n", float64(took.Nanoseconds())/chosen.operations)
	}
}
