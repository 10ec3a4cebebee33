public class Clean {
    public static void main(String[] args) {
        System.out.println("ok");
    }
}
