import java.util.*;

public class Shop {
    private final List prices = new ArrayList();

    public int total() {
        int sum = 0;
        for (Object price : prices) {
            sum += price;
        }
        return sum;
    }

    public void add(String name) {
        prices.add(name);
        Map<String, Integer> index = new HashMap();
        index.put(name, "three");
        Thread.currentThread().stop();
    }

    public String label(int kind) {
        switch (kind) {
            case 1:
                System.out.println("one");
            case 2:
                return "two";
        }
    }

    Supplier<String> later() {
        int count = 0;
        count++;
        return () -> "n" + count;
    }
}

class Till extends Shop implements Comparable<Till> {
    void open() throws java.io.IOException {
        new java.io.FileReader("till.txt");
    }

    void close() {
        open();
        undefinedTill.close();
    }
}
