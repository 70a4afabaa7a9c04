// As much of a test framework as the tests use: a program that runs the one test that it is asked for.
#pragma once

#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "host.hpp"

namespace testing {

struct TestInfo {
    std::string suite, test;
    const char* name() const { return test.c_str(); }
    const char* test_suite_name() const { return suite.c_str(); }
};

struct UnitTest {
    TestInfo current;
    const TestInfo* current_test_info() const { return &current; }
    static UnitTest* GetInstance()
    {
        static UnitTest only;
        return &only;
    }
};

class Test {
public:
    virtual ~Test() = default;
    static void SetUpTestSuite() {}
    static void TearDownTestSuite() {}
    void Run()
    {
        SetUp();
        TestBody();
        TearDown();
    }

protected:
    virtual void SetUp() {}
    virtual void TearDown() {}
    virtual void TestBody() = 0;
};

inline std::map<std::string, std::pair<TestInfo, std::function<void()>>>& tests()
{
    static std::map<std::string, std::pair<TestInfo, std::function<void()>>> all;
    return all;
}

struct Registered {
    Registered(const char* suite, const char* test, std::function<void()> run)
    {
        tests()[std::string(suite) + "." + test] = {TestInfo{suite, test}, run};
    }
};

// What a failed expectation says, with what the test streams into it.
struct Expectation {
    explicit Expectation(bool holds, const char* text, int line)
    {
        const std::string what = text;
        if (!holds) {
            isa::tell("failed|line " + std::to_string(line) + ": " + what);
        } else if (what.find("acl") == what.npos && what.find("ACL") == what.npos && what.find("File") == what.npos) {
            isa::tell("holds");
        }
    }
    template <class T>
    Expectation& operator<<(const T&)
    {
        return *this;
    }
    operator bool() const { return true; }
};

struct Nothing {
    void operator=(const Expectation&) const {}
};

} // namespace testing

#define ISA_TEST(SUITE, NAME, BASE)                                                            \
    class SUITE##_##NAME##_Test : public BASE {                                                \
    public:                                                                                    \
        void TestBody() override;                                                              \
        static void Whole()                                                                    \
        {                                                                                      \
            BASE::SetUpTestSuite();                                                            \
            SUITE##_##NAME##_Test().Run();                                                     \
            BASE::TearDownTestSuite();                                                         \
        }                                                                                      \
    };                                                                                         \
    static testing::Registered SUITE##_##NAME##_registered(#SUITE, #NAME, SUITE##_##NAME##_Test::Whole); \
    void SUITE##_##NAME##_Test::TestBody()
#define TEST_F(SUITE, NAME) ISA_TEST(SUITE, NAME, SUITE)
#define TEST(SUITE, NAME) ISA_TEST(SUITE, NAME, testing::Test)

#define EXPECT_TRUE(x) testing::Expectation(static_cast<bool>(x), #x, __LINE__)
#define EXPECT_FALSE(x) testing::Expectation(!static_cast<bool>(x), "!" #x, __LINE__)
#define EXPECT_EQ(x, y) testing::Expectation((x) == (y), #x " == " #y, __LINE__)
#define EXPECT_NE(x, y) testing::Expectation((x) != (y), #x " != " #y, __LINE__)
#define EXPECT_LT(x, y) testing::Expectation((x) < (y), #x " < " #y, __LINE__)
#define EXPECT_GE(x, y) testing::Expectation((x) >= (y), #x " >= " #y, __LINE__)
#define ISA_ASSERT(x, text) \
    if (x) {                \
    } else                  \
        return testing::Nothing() = testing::Expectation(false, text, __LINE__)
#define ASSERT_TRUE(x) ISA_ASSERT(static_cast<bool>(x), #x)
#define ASSERT_EQ(x, y) ISA_ASSERT((x) == (y), #x " == " #y)
#define ASSERT_NE(x, y) ISA_ASSERT((x) != (y), #x " != " #y)
#define ASSERT_GE(x, y) ISA_ASSERT((x) >= (y), #x " >= " #y)

#define SCOPED_TRACE(text) ((void)0)
#define ADD_FAILURE() testing::Expectation(false, "failure", __LINE__)
#define FAIL() return testing::Nothing() = testing::Expectation(false, "failure", __LINE__)

#ifdef ISA_MAIN
int main(int count, char** words)
{
    if (count < 2) {
        for (auto& [name, one] : testing::tests()) {
            std::cout << name << "\n";
        }
        return 0;
    }
    auto& one = testing::tests().at(words[1]);
    testing::UnitTest::GetInstance()->current = one.first;
    one.second();
    isa::tell("done");
    return 0;
}
#endif
